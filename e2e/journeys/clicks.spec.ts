// What a newcomer does on the first day, and how many clicks each takes.

import type { Page } from "@playwright/test";
import { Devices, openNetwork } from "../harness/devices";
import { expect, test } from "../harness/test";

test.use({ setup: { policy: "ask", files: { "notes.md": "one\n" }, changes: {} } });

/** Counts what a person presses, whatever is done about it. */
async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const counting = window as unknown as { clicks: number };
    counting.clicks = 0;
    addEventListener("pointerdown", () => counting.clicks++, { capture: true });
  });
  return () =>
    page.evaluate(() => {
      const counting = window as unknown as { clicks: number };
      const { clicks } = counting;
      counting.clicks = 0;
      return clicks;
    });
}

test("a task is started, seen, answered, read, commented on and stopped, an old session found, a phone added @desktop", async ({
  cockpit,
  page,
  server,
}) => {
  await server.call("POST", "/api/sessions", { title: "The invoice of last week" });
  const clicks = await countClicks(page);

  await test.step("start a task: none, the field has the focus", async () => {
    await page.keyboard.type("create more.txt with more");
    await page.keyboard.press("Enter");
    await expect(cockpit.mine).toHaveText([/create more\.txt/]);
    expect(await clicks()).toBe(0);
  });

  await test.step("see what runs where, and that it waits: none", async () => {
    await expect(cockpit.sidebar.getByRole("heading", { name: /^Needs you/ })).toBeVisible();
    await expect(cockpit.rows.first()).toContainText("create more.txt");
    expect(await clicks()).toBe(0);
  });

  await test.step("answer a question: one", async () => {
    await cockpit.cards.getByRole("button", { name: "Allow", exact: true }).click();
    await expect(cockpit.cards).toHaveCount(0);
    await cockpit.expectIdle();
    expect(await clicks()).toBe(1);
  });

  await test.step("read what changed: one", async () => {
    await page.getByRole("button", { name: /^1 file/ }).click();
    await expect(page.getByRole("complementary", { name: "Changes" })).toContainText("more");
    expect(await clicks()).toBe(1);
  });

  await test.step("comment on a line and send it: one more, and the keyboard", async () => {
    const panel = page.getByRole("complementary", { name: "Changes" });
    await panel.locator("td.gutter[data-side=new]", { hasText: /^1$/ }).click();
    await page.keyboard.type("say why");
    await page.keyboard.press("Control+Enter");
    await expect(panel.getByRole("article", { name: "Comment, Line 1" })).toContainText("say why");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByRole("dialog", { name: "Send review" })).toBeVisible();
    await page.keyboard.press("Control+Enter");
    await expect(cockpit.mine.last()).toContainText("say why");
    await expect(panel.getByRole("article", { name: "Sent comment, Line 1" })).toBeVisible();
    expect(await clicks()).toBe(1);
    await cockpit.expectIdle();
    await page.keyboard.press("Control+Shift+D");
    await expect(panel).toHaveCount(0);
    await expect(cockpit.composer).toBeVisible();
  });

  await test.step("stop: one", async () => {
    await cockpit.send("count to 1000 slowly");
    await expect(cockpit.stop).toBeVisible();
    await clicks();
    await cockpit.stop.click();
    await cockpit.expectIdle();
    expect(await clicks()).toBe(1);
  });

  await test.step("find last week's session: none, by Ctrl K", async () => {
    await page.keyboard.press("Control+K");
    await page.keyboard.type("invoice");
    await expect(page.getByRole("option", { name: /The invoice of last week/ })).toBeVisible();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "The invoice of last week" })).toBeVisible();
    expect(await clicks()).toBe(0);
  });

  await test.step("add a phone where it can reach the server: three, and a QR code is there", async () => {
    await openNetwork(server);
    const devices = new Devices(cockpit);
    await devices.open();
    await devices.makeLink();
    await expect(devices.panel.getByRole("img", { name: "QR code of the link" })).toBeVisible();
    expect(await clicks()).toBe(3);
  });
});
