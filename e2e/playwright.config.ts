// The journeys run in two sizes of one real browser. A test tagged @desktop or @phone runs only there.

import { defineConfig } from "@playwright/test";
import { chromium } from "./harness/browser";

export default defineConfig({
  testDir: "journeys",
  outputDir: "results",
  globalSetup: "./harness/prepare.ts",
  timeout: 180_000,
  expect: { timeout: 40_000 },
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  workers: 2,
  // Two browsers, their servers and real agents share two cores. What fails once is told as flaky, what fails twice fails.
  retries: 1,
  reporter: [["list"]],
  use: { ...chromium, actionTimeout: 60_000, screenshot: "only-on-failure" },
  projects: [
    { name: "desktop", grepInvert: /@phone/, use: { viewport: { width: 1280, height: 800 } } },
    {
      name: "phone",
      grepInvert: /@desktop/,
      use: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
    },
  ],
});
