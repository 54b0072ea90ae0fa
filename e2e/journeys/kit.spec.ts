import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { resolve } from "node:path";
import { test as base, expect } from "@playwright/test";
import { expectAccessible } from "../harness/test";

const ui = resolve(import.meta.dirname, "../../ui");

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, "127.0.0.1", done));
  const address = probe.address();
  await new Promise((done) => probe.close(done));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** The kit is shown by the development server only. */
const test = base.extend<{ kit: string }>({
  kit: async ({}, use) => {
    const port = await freePort();
    const vite = spawn(
      process.execPath,
      [resolve(ui, "node_modules/vite/bin/vite.js"), "--host", "127.0.0.1", "--port", String(port), "--strictPort"],
      { cwd: ui, stdio: "ignore" },
    );
    const ended = new Promise((done) => vite.once("exit", done));
    const url = `http://127.0.0.1:${port}/ui-kit`;
    await expect
      .poll(
        () =>
          fetch(url).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 60_000, message: "the development server" },
      )
      .toBe(200);
    await use(url);
    vite.kill();
    await ended;
  },
});

test("every part of the kit in every state is legible in both schemes", async ({ page, kit }, info) => {
  await page.goto(kit);
  await expect(page.getByRole("heading", { name: "The kit" })).toBeVisible();
  const device = info.project.name === "phone" ? "phone" : "desk";
  const folder = process.env.SCREENS ? resolve(import.meta.dirname, "../../docs/screens") : info.outputPath("screens");
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await expectAccessible(page);
    await page.screenshot({ path: resolve(folder, `ui-kit-${device}-${scheme}.png`), fullPage: true, scale: "css" });
  }
  await page.getByRole("button", { name: "gpt-4.1" }).click();
  await expect(page.getByRole("menuitemradio", { name: "gpt-4.1" })).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Open a dialog" }).click();
  await expect(page.getByRole("dialog", { name: "Commit 4 files" })).toBeVisible();
  await expectAccessible(page);
});
