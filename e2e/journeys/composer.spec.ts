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
  await expect.poll(height).toBe(small);
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
  await queue.getByRole("listitem").nth(1).getByRole("button", { name: "Withdraw queued message" }).click();
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
  await cockpit.openSessions();
  await page.getByRole("button", { name: "New session" }).click();
  await expect(page.getByRole("heading", { name: "What should be done?" })).toBeVisible();
  await expect(cockpit.composer).toHaveValue("");
});
