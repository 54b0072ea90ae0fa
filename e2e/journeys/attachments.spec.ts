import type { Locator, Page } from "@playwright/test";
import { callsTool } from "../harness/script";
import { dot } from "../harness/talk";
import { expect, expectAccessible, test } from "../harness/test";

test.use({ setup: { files: { "src/lib.rs": "pub fn one() {}\n", "README.md": "# Read\n" } } });

const drafts = (page: Page) => page.getByRole("list", { name: "Attachments of this message" });
const picker = (page: Page): Locator => page.getByLabel("Files", { exact: true });

test("a picked image and a file go along, and are shown with the message after a reload", async ({ cockpit, page }) => {
  await picker(page).setInputFiles([
    dot,
    { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("remember") },
  ]);
  await expect(drafts(page).getByRole("img", { name: "dot.png" })).toBeVisible();
  await expect(drafts(page)).toContainText("note.txt");
  await expectAccessible(page);
  await cockpit.expectNoSidewaysScroll();
  await cockpit.send("say what you see");
  await expect(cockpit.log).toContainText("You attached image/png, note.txt");
  await cockpit.expectIdle();
  await expect(drafts(page)).toBeHidden();
  for (const visit of ["live", "reloaded"]) {
    const image = cockpit.mine.getByRole("img", { name: "dot.png" });
    await expect(image, visit).toBeVisible();
    await expect.poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(1);
    await expect(cockpit.mine.getByRole("link", { name: /note\.txt/ }), visit).toBeVisible();
    if (visit === "live") await page.reload();
  }
  await expectAccessible(page);
});

test("an image can be pasted and dropped, taken away again, and outlives a reload before it is sent", async ({
  cockpit,
  page,
}) => {
  await cockpit.send("say hello");
  await expect(cockpit.mine).toHaveCount(1);
  await give(page, "paste", "pasted.png");
  await give(page, "drop", "dropped.png");
  await expect(drafts(page).getByRole("img")).toHaveCount(2);
  await page.reload();
  await expect(drafts(page).getByRole("img")).toHaveCount(2);
  await page.getByRole("button", { name: "Remove pasted.png" }).click();
  await expect(drafts(page).getByRole("img")).toHaveCount(1);
  await cockpit.send("say it");
  await expect(cockpit.mine.last().getByRole("img", { name: "dropped.png" })).toBeVisible();
  await expect(cockpit.mine.last().getByRole("img")).toHaveCount(1);
  await expect(cockpit.answers.last()).toBeVisible();
  await cockpit.expectIdle();
});

test("a file that is too large is refused by name, and nothing else is lost @desktop", async ({ cockpit, page }) => {
  await picker(page).setInputFiles([
    { name: "film.mp4", mimeType: "video/mp4", buffer: Buffer.alloc(8 * 1024 * 1024 + 1) },
    dot,
  ]);
  await expect(page.getByRole("alert")).toContainText("“film.mp4” is too large");
  await expect(drafts(page).getByRole("listitem")).toHaveCount(1);
  await cockpit.send("say done");
  await expect(cockpit.mine.getByRole("img", { name: "dot.png" })).toBeVisible();
  await expect(cockpit.answers.last()).toBeVisible();
  await cockpit.expectIdle();
});

test("a phone can take a photo @phone", async ({ cockpit, page }) => {
  // Also in the one line that stands beneath the list: a tap that unfolds it still counts.
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Take a photo" }).tap();
  await chooser;
  const camera = page.getByLabel("Photo", { exact: true });
  await expect(camera).toHaveAttribute("accept", "image/*");
  await expect(camera).toHaveAttribute("capture", "environment");
  await camera.setInputFiles(dot);
  await cockpit.send("say seen");
  await expect(cockpit.mine.getByRole("img", { name: "dot.png" })).toBeVisible();
  await expect(cockpit.answers.last()).toBeVisible();
  await cockpit.expectIdle();
});

test("files are completed behind an @ and commands behind a slash, by keys or by hand", async ({ cockpit, page }) => {
  await cockpit.send("say ready");
  await cockpit.expectIdle();
  const list = page.getByRole("listbox", { name: "Suggestions" });
  await cockpit.composer.pressSequentially("say @l");
  await expect(list.getByRole("option")).toHaveText(["src/lib.rs"]);
  await expectAccessible(page);
  await cockpit.composer.press("Tab");
  await expect(cockpit.composer).toHaveValue("say @src/lib.rs ");
  await expect(list).toBeHidden();
  await cockpit.composer.press("Enter");
  await expect(cockpit.mine).toHaveCount(2);
  await cockpit.expectIdle();
  await expect(cockpit.log).toContainText("You attached src/lib.rs");

  await cockpit.composer.pressSequentially("/");
  const options = list.getByRole("option");
  await expect(options.first()).toBeVisible();
  const first = await options.first().locator(".completion-label").textContent();
  await expect(options.first()).toHaveAttribute("aria-selected", "true");
  await cockpit.composer.press("ArrowDown");
  await cockpit.composer.press("ArrowUp");
  await cockpit.composer.press("Escape");
  await expect(list).toBeHidden();
  await cockpit.composer.fill("");
  await cockpit.composer.pressSequentially("/");
  await options.first().click();
  await expect(cockpit.composer).toHaveValue(`${first} `);
});

test.describe("with a main AI", () => {
  const task = { prompt: "say what you see", session_name: "main" };
  const script = callsTool("look", "copilot_agent", task, "The agent has seen it.");
  test.use({ setup: { script } });

  test("its agent gets what was sent along @desktop", async ({ cockpit, page }) => {
    await picker(page).setInputFiles([
      dot,
      { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("remember") },
    ]);
    await cockpit.send("look at these");
    await expect(cockpit.answers).toContainText("The agent has seen it.");
    await expect(cockpit.log.locator("details.copilot-block")).toContainText("You attached image/png, note.txt");
  });
});

/** Puts a picture into the clipboard or under the mouse, as a browser would. */
async function give(page: Page, way: "paste" | "drop", name: string): Promise<void> {
  await page.evaluate(
    ({ way, name, bytes }) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(bytes)], name, { type: "image/png" }));
      const target = document.querySelector("textarea");
      const init = { bubbles: true, cancelable: true };
      const event =
        way === "paste"
          ? new ClipboardEvent("paste", { ...init, clipboardData: transfer })
          : new DragEvent("drop", { ...init, dataTransfer: transfer });
      target?.dispatchEvent(event);
    },
    { way, name, bytes: [...dot.buffer] },
  );
  await expect(page.getByRole("button", { name: `Remove ${name}` })).toBeVisible();
}
