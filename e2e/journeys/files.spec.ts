// Files of the work directory, read beside the conversation: from a path in the text, at its line.

import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "../harness/test";

const code = `${Array.from({ length: 120 }, (_, at) => `fn line_${at + 1}() {}`).join("\n")}\n`;
const paragraph = "Many words about nothing, so that there is something to scroll. ".repeat(12);
const answer = [
  ...Array.from({ length: 12 }, () => paragraph),
  "The limiter is in `src/lib.rs:90`; see also docs/notes.md, `dot.png`, `data.bin` and `gone.rs:3`.",
  paragraph,
].join("\n\n");

/** One grey pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
  "base64",
);

test.use({
  setup: {
    script: [{ reply: { text: answer } }],
    files: {
      "src/lib.rs": code,
      "docs/notes.md": "# Notes\n",
      "data.bin": "\u0000\u0001\u0002",
      "dot.png": png,
    },
  },
});

const viewerOf = (page: Page, path: string) => page.getByRole("complementary", { name: `File ${path}` });

test("a path opens its file at its line, and closing gives the conversation back as it was", async ({
  cockpit,
  page,
}) => {
  if (!cockpit.isPhone) await page.setViewportSize({ width: 1440, height: 900 });
  await cockpit.send("where is it?");
  await expect(cockpit.answers).toHaveCount(1);
  await cockpit.expectIdle();
  const chip = cockpit.answers.getByRole("link", { name: "src/lib.rs:90" });
  await expect(chip).toBeVisible();
  await expect(cockpit.answers.getByRole("link")).toHaveText(["src/lib.rs:90", "docs/notes.md", "dot.png", "data.bin"]);
  await chip.scrollIntoViewIfNeeded();
  const before = await chip.boundingBox();

  await chip.click();
  const viewer = viewerOf(page, "src/lib.rs");
  const line = viewer.locator("tr.hit");
  await expect(line).toContainText("line_90");
  await expect(line).toBeInViewport();
  await expect(line.locator(".c-key").first()).toHaveText("fn");
  await expect(viewer).toContainText("Line 90 · 120 lines");
  await expectAccessible(page);
  await page.reload();
  await expect(line).toBeInViewport();
  await expect(chip, "the conversation is there again beneath").toBeAttached();

  await viewer.getByRole("button", { name: /^(Close the file|Back to the conversation)$/ }).focus();
  await page.keyboard.press("Escape");
  await expect(viewer).toHaveCount(0);
  await expect(chip).toBeFocused();
  await expect(page).toHaveURL(/sessions\/[\w-]+$/);

  await chip.click();
  await expect(line).toBeInViewport();
  await page.keyboard.press("Escape");
  await expect(chip).toBeFocused();
  if (cockpit.isPhone) expect((await chip.boundingBox())?.y).toBeCloseTo(before?.y ?? 0, -1);
  else await expect(chip).toBeInViewport();
  await cockpit.expectNoSidewaysScroll();
});

test("what cannot be read is said in words, and an image is shown", async ({ cockpit, page, server }) => {
  await cockpit.send("where is it?");
  const answer = cockpit.answers.last();
  await answer.getByRole("link", { name: "dot.png" }).click();
  const image = viewerOf(page, "dot.png").getByRole("img", { name: "dot.png" });
  await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(1);
  await page.keyboard.press("Escape");
  await answer.getByRole("link", { name: "data.bin" }).click();
  await expect(viewerOf(page, "data.bin")).toContainText("Binary file, 3 B");
  await page.keyboard.press("Escape");
  await expect(answer.getByRole("link", { name: "data.bin" })).toBeFocused();
  rmSync(join(server.work, "docs/notes.md"));
  await answer.getByRole("link", { name: "docs/notes.md" }).click();
  await expect(viewerOf(page, "docs/notes.md")).toContainText("The file no longer exists.");
});

test("a line of a file is commented on by its sign, and the comment stands there after a reload", async ({
  cockpit,
  page,
}) => {
  await cockpit.send("where is it?");
  await cockpit.answers.last().getByRole("link", { name: "src/lib.rs:90" }).click();
  const viewer = viewerOf(page, "src/lib.rs");
  await expect(viewer.getByRole("button", { name: "Comment on line 90" }), "the line with focus has it").toBeVisible();
  const other = viewer.getByText("line_92");
  if (cockpit.isPhone) await other.tap();
  else await other.hover();
  await viewer.getByRole("button", { name: "Comment on line 92" }).click();
  await viewer.getByRole("textbox", { name: "Comment" }).fill("Why so many?");
  await viewer.getByRole("button", { name: "Add comment" }).click();
  const comment = viewer.getByRole("article", { name: "Comment, Line 92" });
  await expect(comment).toContainText("Why so many?");
  await page.reload();
  await expect(comment).toBeVisible();
  await expect(viewer.getByRole("button", { name: "Send review 1" })).toBeVisible();
});

test("nothing beneath a file can be reached while it lies over the conversation @desktop", async ({ cockpit, page }) => {
  await cockpit.send("where is it?");
  await cockpit.expectIdle();
  const chip = cockpit.answers.getByRole("link", { name: "src/lib.rs:90" });
  await chip.click();
  const viewer = viewerOf(page, "src/lib.rs");
  const pane = page.locator("main > *").first();
  await expect(viewer.locator("tr.hit")).toBeInViewport();
  await expect(pane).toHaveAttribute("inert", "");
  const isWithin = () => page.evaluate(() => Boolean(document.activeElement?.closest("main")));
  for (let presses = 0; presses < 30; presses++) {
    await page.keyboard.press("Tab");
    expect(await isWithin(), `after ${presses + 1} presses of Tab`).toBe(false);
  }
  await page.setViewportSize({ width: 1600, height: 900 });
  await expect(pane, "beside the conversation it covers nothing").not.toHaveAttribute("inert");
  await page.setViewportSize({ width: 1024, height: 800 });
  await expect(pane).toHaveAttribute("inert", "");
  await viewer.getByRole("button", { name: "Close the file" }).click();
  await expect(pane).not.toHaveAttribute("inert");
  await expect(chip).toBeFocused();
});
