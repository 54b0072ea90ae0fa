// Makes the picture of the documentation; not part of the tests. A font with emoji should be installed.

import { defineConfig } from "@playwright/test";
import { chromium } from "./harness/browser";

export default defineConfig({
  testDir: "screenshot",
  outputDir: "results",
  globalSetup: "./harness/prepare.ts",
  workers: 1,
  reporter: [["list"]],
  use: { ...chromium, viewport: { width: 1280, height: 980 }, colorScheme: "light", reducedMotion: "reduce" },
});
