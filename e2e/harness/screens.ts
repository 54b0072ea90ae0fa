// Pictures of a screen in both schemes and at every size of its project, each without a fault for those who cannot see it well.

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page, TestInfo } from "@playwright/test";
import { expect, expectAccessible } from "./test";

const desk = [
  { width: 1440, height: 900, kept: true },
  { width: 1024, height: 768, kept: false },
];
const phone = [{ width: 390, height: 844, kept: true }];

/** Where they go: into the documentation when somebody asks for that, else beside the results. */
function folder(info: TestInfo): string {
  return process.env.SCREENS ? resolve(import.meta.dirname, "../../docs/screens") : info.outputPath("screens");
}

export async function photograph(page: Page, info: TestInfo, name: string): Promise<void> {
  const isPhone = info.project.name === "phone";
  const before = page.viewportSize();
  mkdirSync(folder(info), { recursive: true });
  // The ring around what has the focus is not what a screen looks like most of the time.
  await page.evaluate(() => {
    const { activeElement } = document;
    if (activeElement instanceof HTMLElement && activeElement.matches("textarea, .ask, [role=log]")) activeElement.blur();
  });
  for (const { width, height, kept } of isPhone ? phone : desk) {
    await page.setViewportSize({ width, height });
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await page.mouse.move(0, 0);
      await expectNoOverflow(page, `${name} at ${width} px, ${scheme}`);
      await expectAccessible(page);
      const file = `${name}-${isPhone ? "phone" : kept ? "desk" : width}-${scheme}.png`;
      await page.evaluate(() => document.fonts.ready);
      if (kept || !process.env.SCREENS) await page.screenshot({ path: join(folder(info), file), scale: "css" });
    }
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  if (before) await page.setViewportSize(before);
}

/** Nothing is wider or higher than the window that it is seen through. */
async function expectNoOverflow(page: Page, where: string): Promise<void> {
  const surplus = () =>
    page.evaluate(() => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement;
      return { sideways: Math.max(0, scrollWidth - clientWidth), down: Math.max(0, scrollHeight - clientHeight) };
    });
  await expect.poll(surplus, { message: `overflow of ${where}` }).toEqual({ sideways: 0, down: 0 });
}
