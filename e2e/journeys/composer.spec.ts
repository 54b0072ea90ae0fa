import { expect, test } from "../harness/test";

test("Enter sends, Shift+Enter breaks the line, and the box grows with the text", async ({ cockpit }) => {
  const height = async () => (await cockpit.composer.boundingBox())?.height ?? 0;
  const small = await height();
  await cockpit.composer.pressSequentially("say one");
  await cockpit.composer.press("Shift+Enter");
  await cockpit.composer.pressSequentially("say two");
  await cockpit.composer.press("Shift+Enter");
  await cockpit.composer.pressSequentially("say three");
  await expect(cockpit.composer).toHaveValue("say one\nsay two\nsay three");
  expect(await height()).toBeGreaterThan(small);

  await cockpit.composer.press("Enter");
  await expect(cockpit.mine).toHaveCount(1);
  await expect(cockpit.composer).toHaveValue("");
  await expect.poll(height).toBeLessThanOrEqual(small);
  await expect(cockpit.answers).toContainText("three");

  await cockpit.composer.fill(Array(60).fill("line").join("\n"));
  expect(await height()).toBeLessThan(300);
  await expect(cockpit.composer).toBeInViewport({ ratio: 1 });
});

test("what is sent while a turn runs waits, can be changed and withdrawn, and runs in order", async ({
  cockpit,
  page,
}) => {
  await cockpit.send("count to 500");
  await cockpit.copilot().expectRunning();
  const queue = page.getByRole("list", { name: "Queued messages" });
  await cockpit.send("say second");
  await expect(queue.getByRole("listitem")).toHaveCount(1);
  await cockpit.send("say third");
  await expect(queue.getByRole("listitem")).toHaveCount(2);

  await page.reload();
  await expect(queue.getByRole("listitem")).toHaveCount(2);
  const first = queue.getByRole("listitem").first();
  await first.getByRole("button", { name: "Edit queued message" }).click();
  await queue.getByRole("textbox", { name: "Queued message" }).fill("say changed");
  await queue.getByRole("button", { name: "Save queued message" }).click();
  await expect(first).toContainText("say changed");
  await queue.getByRole("listitem").nth(1).getByRole("button", { name: "Remove queued message" }).click();
  await expect(queue.getByRole("listitem")).toHaveCount(1);

  await expect(cockpit.answers).toHaveCount(2, { timeout: 30_000 });
  await expect(cockpit.answers.last()).toHaveText("changed");
  await expect(cockpit.mine).toHaveCount(2);
  await expect(queue).toBeHidden();
});

test("a running turn can be stopped, and the next message works", async ({ cockpit, page }) => {
  await cockpit.send("count to 5000");
  await cockpit.copilot().reaches(30);
  await cockpit.stop.click();
  await cockpit.copilot().expectEnded("stopped");
  await cockpit.expectIdle();
  const said = await cockpit.copilot().text();
  await page.reload();
  await cockpit.copilot().expectEnded("stopped");
  expect(await cockpit.copilot().text()).toBe(said);
  await cockpit.send("say go on");
  await expect(cockpit.answers.last()).toHaveText("go on");
});

test("one agent can be stopped from its block @desktop", async ({ cockpit, page }) => {
  await cockpit.send("count to 5000");
  await cockpit.copilot().reaches(30);
  await page.getByRole("button", { name: "Stop this agent" }).click();
  await cockpit.copilot().expectEnded("stopped");
  await cockpit.expectIdle();
});

test("a draft survives a reload, and belongs to its session", async ({ cockpit, page }) => {
  await cockpit.send("say hello");
  await expect(cockpit.answers).toHaveCount(1);
  await cockpit.composer.fill("half a thought");
  await page.reload();
  await expect(cockpit.composer).toHaveValue("half a thought");
  await cockpit.newSession();
  await expect(cockpit.composer).toHaveValue("");
});

test("what waits is put into another order, and sent at once", async ({ cockpit, page }) => {
  await cockpit.send("count to 20000");
  await cockpit.copilot().reaches(20);
  await cockpit.send("say second");
  await cockpit.send("say third");
  const queue = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
  await expect(queue).toHaveCount(2);
  await queue
    .nth(1)
    .getByRole("button", { name: /^Move queued message/ })
    .press("ArrowUp");
  await expect(queue.nth(0)).toContainText("say third");
  await page.reload();
  await expect(queue.nth(0), "the server has the last word").toContainText("say third");

  await cockpit.composer.press("ArrowUp");
  const text = page.getByRole("textbox", { name: "Queued message" });
  await expect(text).toHaveValue("say second");
  await text.fill("say the last");
  await text.press("Enter");
  await expect(queue.nth(1)).toContainText("say the last");
  await expect(cockpit.composer).toBeFocused();

  await queue.nth(1).getByRole("button", { name: "Send now" }).click();
  await expect(cockpit.answers.last()).toHaveText("third", { timeout: 30_000 });
  await expect(cockpit.mine).toContainText(["count", "the last", "third"]);
  await cockpit.expectIdle();
});

test("the text field has the width of the page @phone", async ({ cockpit, page }) => {
  const width = async () => (await cockpit.composer.boundingBox())?.width ?? 0;
  expect(await width()).toBeGreaterThan(350);
  await cockpit.send("say hello");
  await expect(cockpit.answers).toHaveCount(1);
  expect(await width()).toBeGreaterThan(350);
  await expect(page.getByRole("button", { name: "Model, mode, branch" })).toBeVisible();
});
