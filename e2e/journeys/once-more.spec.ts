// What can be done with what was said: copied, looked at, changed and sent once more.

import type { Page } from "@playwright/test";
import { dot } from "../harness/talk";
import { expect, expectAccessible, test } from "../harness/test";

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

test.describe("what a main AI said", () => {
  const code = "fn one() -> u8 {\n    1\n}";
  test.use({ setup: { script: [{ reply: { text: `Here:\n\n\`\`\`rust\n${code}\n\`\`\`\n` } }] } });

  test("code, answer and message are copied as they are @desktop", async ({ cockpit, page, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await cockpit.send("write **one**");
    await cockpit.expectIdle();
    await cockpit.answers.getByRole("button", { name: "Copy code" }).click();
    await expect.poll(() => clipboard(page)).toBe(code);
    await cockpit.log.getByRole("button", { name: "Copy answer" }).click();
    await expect.poll(() => clipboard(page)).toContain("```rust");
    await cockpit.mine.hover();
    await cockpit.mine.getByRole("button", { name: "Copy message" }).click();
    await expect.poll(() => clipboard(page)).toBe("write **one**");
  });
});

test("a picture opens in its place; its message is changed and sent once more, and retried as it was", async ({
  cockpit,
  page,
}) => {
  await page.getByLabel("Files", { exact: true }).setInputFiles([dot]);
  await cockpit.send("say hello");
  await expect(cockpit.answers).toHaveText([/hello/]);
  await cockpit.expectIdle();

  await cockpit.mine.getByRole("button", { name: "dot.png" }).click();
  const picture = page.getByRole("dialog", { name: "dot.png" });
  await expect(picture.getByRole("img", { name: "dot.png" })).toBeVisible();
  await expect(picture.getByRole("link", { name: "Download" })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(picture).toHaveCount(0);

  await cockpit.mine.hover();
  await cockpit.mine.getByRole("button", { name: "Edit and resend" }).click();
  await expect(cockpit.composer).toHaveValue("say hello");
  await expect(
    page.getByRole("list", { name: "Attachments of this message" }).getByRole("img", { name: "dot.png" }),
  ).toBeVisible();
  await cockpit.send("say good-bye");
  await expect(cockpit.mine).toHaveCount(2);
  await expect(cockpit.mine.last().getByRole("img", { name: "dot.png" })).toBeVisible();
  await expect(cockpit.answers.last()).toContainText("good-bye");
  await cockpit.expectIdle();

  await cockpit.log.getByRole("button", { name: "Retry" }).last().click();
  await expect(cockpit.mine).toHaveCount(3);
  await expect(cockpit.mine.last()).toContainText("say good-bye");
  await expect(cockpit.mine.last().getByRole("img", { name: "dot.png" })).toBeVisible();
  await expect(cockpit.answers).toHaveCount(3);
  await cockpit.expectIdle();
});
