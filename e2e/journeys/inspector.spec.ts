import { readFileSync } from "node:fs";
import { expect, expectAccessible, test } from "../harness/test";

test("the raw traffic can be looked through, filtered, copied and downloaded @desktop", async ({
  cockpit,
  page,
}, info) => {
  const inspector = page.getByRole("dialog", { name: "Agent traffic" });
  const lines = inspector.getByRole("listitem");

  await cockpit.send("say hello inspector");
  await expect(cockpit.answers).toContainText("hello inspector");
  await cockpit.expectIdle();
  await cockpit.fromHead("Agent traffic");
  await expect(lines.first()).toContainText("response prompt:");
  await expect(lines.last()).toContainText("initialize");
  await expectAccessible(page);
  await page.screenshot({ path: info.outputPath("inspector.png") });
  const width = page.viewportSize()?.width ?? 0;
  if (width < 500) expect((await inspector.boundingBox())?.width, "full screen on a phone").toBe(width);

  const text = inspector.getByRole("searchbox", { name: "Text" });
  await text.fill("hello INSPECTOR");
  await inspector.getByRole("combobox", { name: "Direction" }).selectOption("to the agent");
  await expect(lines).toHaveCount(1);
  await expect(lines).toContainText("session/prompt");
  // By keyboard: the line opens, and its payload can be reached.
  await lines.locator("summary").focus();
  await page.keyboard.press("Enter");
  await expect(inspector.getByRole("group", { name: "Payload" })).toContainText('"text": "say hello inspector"');
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await inspector.getByRole("button", { name: "Copy" }).click();
  await expect(inspector.getByText("Copied.")).toBeVisible();
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())).method).toBe("session/prompt");
  await expectAccessible(page);
  await page.screenshot({ path: info.outputPath("payload.png") });
  await cockpit.expectNoSidewaysScroll();

  await text.fill("nothing says this");
  await expect(inspector.getByText("No matches.")).toBeVisible();

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    inspector.getByRole("link", { name: "Download" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^voxpilot-.*\.ndjson$/);
  const captured = readFileSync(await download.path(), "utf8")
    .trim()
    .split("\n");
  expect(captured.map((line) => JSON.parse(line)).filter(({ msg }) => msg.method === "session/prompt")).toHaveLength(1);

  await page.keyboard.press("Escape");
  await expect(inspector).toBeHidden();
  await expect(page.getByRole("button", { name: "More", exact: true })).toBeFocused();
});

test("traffic that comes while one looks is followed @desktop", async ({ cockpit, page }) => {
  const inspector = page.getByRole("dialog", { name: "Agent traffic" });
  await cockpit.send("count to 400");
  await cockpit.copilot().expectRunning();
  await cockpit.fromHead("Agent traffic");
  await inspector.getByRole("checkbox", { name: "Follow" }).check();
  await expect(inspector.getByRole("listitem").first()).toContainText("response prompt:", { timeout: 60_000 });
});

test("a session without traffic says so @phone", async ({ cockpit, page, server }) => {
  const { id } = await (await server.call("POST", "/api/sessions", { title: "Quiet" })).json();
  await page.evaluate((id) => {
    location.hash = `#/sessions/${id}`;
  }, id);
  await cockpit.fromHead("Agent traffic");
  await expect(page.getByText("No agent has started in this session yet.")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Close" }).click();
  await expect(page.getByRole("dialog")).toBeHidden();
});

test("a tool call leads to the very lines in which the agent told it", async ({ cockpit, page }) => {
  await cockpit.send("run `echo raw`");
  await cockpit.expectIdle();
  const raw = cockpit.log.getByRole("button", { name: "Show in agent traffic" });
  await cockpit.copilot().expectEnded("done");
  await cockpit.log.getByRole("button", { name: /ran echo raw done/i }).click();
  await raw.first().click();
  const inspector = page.getByRole("dialog", { name: "Agent traffic" });
  const lines = inspector.getByRole("listitem");
  await expect(lines.first()).toContainText("session/update");
  const count = await lines.count();
  await expectAccessible(page);
  await inspector.getByRole("searchbox", { name: "Text" }).fill("");
  await expect.poll(() => lines.count()).toBeGreaterThan(count);
  await cockpit.expectNoSidewaysScroll();
});

test("an answer and a thought lead to the very lines in which the agent said them", async ({ cockpit, page }) => {
  await cockpit.send("think about ducks");
  await cockpit.expectIdle();
  const raw = page.getByRole("button", { name: "Show in agent traffic" });
  const inspector = page.getByRole("dialog", { name: "Agent traffic" });
  const lines = inspector.getByRole("listitem");
  await raw.last().click();
  await expect(lines.filter({ hasText: "agent_message_chunk" }).first()).toBeVisible();
  await expect(lines.filter({ hasText: "initialize" })).toHaveCount(0);
  await expectAccessible(page);
  await inspector.getByRole("button", { name: "Show all times" }).click();
  await expect(lines.filter({ hasText: "initialize" })).not.toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(inspector).toBeHidden();
  await cockpit.expectNoSidewaysScroll();
});
