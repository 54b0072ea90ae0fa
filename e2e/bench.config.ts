// The benchmark of the page: `make bench ARGS=page`. Not part of the tests; nothing here fails because it is slow.

import { defineConfig } from "@playwright/test";
import { chromium } from "./harness/browser";

export default defineConfig({
  testDir: "bench",
  outputDir: "results",
  globalSetup: "./harness/prepare.ts",
  workers: 1,
  timeout: 1_800_000,
  expect: { timeout: 300_000 },
  reporter: [["list"]],
  use: { ...chromium, viewport: { width: 1440, height: 900 } },
});
