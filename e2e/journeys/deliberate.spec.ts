// An answer is what somebody meant: what comes, goes or moves under a pointer is not pressed by it, and text is text.

import type { Page } from "@playwright/test";
import { photograph } from "../harness/screens";
import type { Server } from "../harness/server";
import { expect, expectAccessible, test } from "../harness/test";

test.use({ setup: { policy: "ask" } });

async function rulesOf(server: Server, page: Page): Promise<unknown[]> {
  const id = /sessions\/([0-9a-f-]+)/.exec(page.url())?.[1];
  return (await (await server.call("GET", `/api/sessions/${id}/permission-rules`)).json()).rules;
}

/** Two presses at one place, as a mouse or a finger makes them. */
async function pressTwice(page: Page, at: { x: number; y: number }, pause_ms: number): Promise<void> {
  const isPhone = (page.viewportSize()?.width ?? 0) < 700;
  const press = () => (isPhone ? page.touchscreen.tap(at.x, at.y) : page.mouse.click(at.x, at.y));
  await press();
  await page.waitForTimeout(pause_ms);
  await press();
}

async function middleOf(page: Page, name: string): Promise<{ x: number; y: number }> {
  const button = page.getByRole("article").getByRole("button", { name });
  await expect(button).toBeEnabled();
  const box = await button.boundingBox();
  return { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 };
}

test("a double press on Always… grants nothing, and its dialog says what it would grant", async ({
  cockpit,
  page,
  server,
}, info) => {
  await cockpit.send("run `echo first`");
  const at = await middleOf(page, "Always…");
  await pressTwice(page, at, 180);
  const dialog = page.getByRole("dialog", { name: "Stop asking about this?" });
  await expect(dialog).toBeVisible();
  const grant = dialog.getByRole("button", { name: "Always allow this command" });
  await expect(grant).toBeEnabled();
  expect(await rulesOf(server, page)).toEqual([]);

  const nearest = await dialog.evaluate(
    (box, { x, y }) =>
      Math.min(
        ...[...box.querySelectorAll("button, label, input, a")].map((control) => {
          const { left, right, top, bottom } = control.getBoundingClientRect();
          return Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
        }),
      ),
    at,
  );
  expect(nearest, "pixels between the last press and a control").toBeGreaterThanOrEqual(24);
  await expect(dialog.getByRole("radio").first(), "the narrowest is chosen and focused").toBeFocused();
  await expect(dialog.getByRole("radio").first()).toBeChecked();
  await photograph(page, info, "always");
  await page.keyboard.press("Enter");
  await expect(dialog, "Enter acts only on a button").toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await expect(cockpit.cards.getByRole("button", { name: "Always…" })).toBeFocused();
  expect(await rulesOf(server, page)).toEqual([]);

  await cockpit.cards.getByRole("button", { name: "Always…" }).click();
  await expect(grant).toBeEnabled();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(dialog.getByRole("radio", { name: /^Every command/ })).toBeChecked();
  await dialog.getByRole("button", { name: "Always allow every command" }).click();
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.expectIdle();
  expect(await rulesOf(server, page)).toHaveLength(1);
});

test("a question is put aside, and comes back from its bar @phone", async ({ cockpit, page, server }, info) => {
  await cockpit.send("run `echo later`");
  const bar = page.locator(".ask-bar");
  const sheet = cockpit.cards;
  await expect(sheet.getByRole("button", { name: "Allow" })).toBeEnabled();
  const bring = async () => {
    await expect(sheet).toBeHidden();
    await expect(bar).toContainText("Run a command? Demo agent [main]");
    await bar.getByRole("button", { name: "Answer" }).click();
    await expect(sheet, "the keyboard goes with it").toBeFocused();
    await expect(sheet.getByRole("button", { name: "Allow" })).toBeEnabled();
  };
  await page.keyboard.press("Escape");
  await expect(bar).toBeVisible();
  await expect(page.getByRole("button", { name: "Permissions: Ask" }).locator(".pill-text")).toHaveText("Ask");
  await photograph(page, info, "put-aside");
  await page.waitForTimeout(500);
  await bring();
  await page.touchscreen.tap(195, 120);
  await expect(bar).toBeVisible();
  await page.waitForTimeout(500);
  await bring();
  const box = await page.locator(".sheet-handle").boundingBox();
  const at = { x: 195, y: (box?.y ?? 0) + 8 };
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x, at.y + 120, { steps: 5 });
  await page.mouse.up();
  await expect(bar).toBeVisible();
  await page.waitForTimeout(500);
  await bring();
  await sheet.getByRole("button", { name: "Allow" }).click();
  await cockpit.copilot().expectEnded("done");
  expect(await rulesOf(server, page)).toEqual([]);
});

test("nothing beneath the changes can be reached while they lie over it @desktop", async ({ cockpit, page }) => {
  await cockpit.send("run `echo beneath`");
  await expect(cockpit.cards).toBeVisible();
  await page.keyboard.press("Control+Shift+D");
  const panel = page.getByRole("complementary", { name: "Changes" });
  await expect(panel).toBeVisible();
  await expect(page.locator("main > *").first()).toHaveAttribute("inert", "");
  await page.setViewportSize({ width: 1600, height: 900 });
  await expect(page.locator("main > *").first()).not.toHaveAttribute("inert");
  await page.keyboard.press("Control+Shift+D");
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();
});

test("a denial can be undone while it is held, and the card keeps its place", async ({ cockpit, page }, info) => {
  const isPhone = info.project.name === "phone";
  await cockpit.send("run `echo held`");
  const deny = cockpit.cards.getByRole("button", { name: "Deny", exact: true });
  await expect(deny).toBeEnabled();
  const before = await cockpit.cards.boundingBox();
  await deny.click();
  const held = page.locator(isPhone ? ".held-bar" : ".held-foot");
  await expect(held).toContainText(/^Declined\. .* gets the answer in [123] s\./);
  await expect(cockpit.log.locator(".waits")).toContainText("Declined echo held");
  if (!isPhone) expect(await cockpit.cards.boundingBox(), "place and height").toEqual(before);
  await held.getByRole("button", { name: "Undo" }).click();
  await expect(held).toHaveCount(0);
  await expect(deny).toBeEnabled();

  await expect(cockpit.log.locator(".waits")).toContainText("Waiting for you");
  await deny.click();
  await expect(held).toBeVisible();
  await page.reload();
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.copilot().expectEnded("declined");
});

test("a saved rule is a row with Undo, and what it decides leads to it", async ({ cockpit, page }, info) => {
  const rule = cockpit.log.locator(".rule-row");
  await cockpit.send("run `echo ruled`");
  await cockpit.cards.getByRole("button", { name: "Always…" }).click();
  await page.getByRole("button", { name: "Always allow this command" }).click();
  await expect(rule).toContainText("Rule saved: always allow echo ruled in this session");
  const pill = page.getByRole("button", { name: "Permissions: Ask, 1 rule applies" });
  await expect(pill).toContainText(info.project.name === "phone" ? "1" : "1 rule");
  await cockpit.expectIdle();
  await cockpit.send("run `echo ruled`");
  await expect(cockpit.log.locator(".approved").last()).toContainText("Allowed by a rule: echo ruled");
  await cockpit.expectIdle();
  await photograph(page, info, "rule");
  await cockpit.log.getByRole("button", { name: "View rule" }).last().click();
  const dialog = page.getByRole("dialog", { name: "Saved permissions" });
  await expect(dialog.locator(".pointed-out")).toContainText("echo ruled");
  await dialog.getByRole("button", { name: "Close" }).click();
  await rule.getByRole("button", { name: "Undo" }).click();
  await expect(rule).toContainText("Rule undone");
  await expect(page.getByRole("button", { name: /^Permissions: Ask$/ })).toBeVisible();
  await cockpit.send("run `echo ruled`");
  await expect(cockpit.cards).toBeVisible();
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();
});

test("always can be a no, and then nobody is asked @desktop", async ({ cockpit, page, server }) => {
  await cockpit.send("run `echo first`");
  await cockpit.cards.getByRole("button", { name: "Always…" }).click();
  const dialog = page.getByRole("dialog", { name: "Stop asking about this?" });
  await expect(dialog.getByRole("button", { name: "Always allow this command" })).toBeEnabled();
  await dialog.getByRole("button", { name: "Deny", exact: true }).click();
  await dialog.getByRole("button", { name: "Always deny this command" }).click();
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.expectIdle();
  expect(await rulesOf(server, page)).toMatchObject([{ allow: false }]);
  await cockpit.send("run `echo first`");
  await expect(cockpit.log.getByText("Denied by a rule:")).toBeVisible();
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.expectIdle();
});

test("what is typed as a question comes stays text, and its keys work once the card was clicked @desktop", async ({
  cockpit,
  page,
}) => {
  await cockpit.send("say hello");
  await expect(cockpit.answers).toHaveText("hello");
  await cockpit.send("run `echo asked`");
  await page.keyboard.type("add a dad joke, and read it aloud", { delay: 60 });
  await expect(cockpit.cards).toBeVisible();
  await page.keyboard.type(" d", { delay: 300 });
  await expect(cockpit.composer).toBeFocused();
  await expect(cockpit.composer).toHaveValue("add a dad joke, and read it aloud d");
  await expect(cockpit.cards.getByRole("button", { name: "Deny", exact: true })).toBeEnabled();
  await expect(page.locator(".answer-keys").first()).toBeHidden();

  await cockpit.cards.locator("header").click();
  await expect(page.locator(".answer-keys").first()).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.copilot().expectEnded("done");
  await expect(cockpit.composer).toHaveValue("add a dad joke, and read it aloud d");
});

test("a card is tabbed into, and answered by its letter @desktop", async ({ cockpit, page }) => {
  await cockpit.send("run `echo asked`");
  await expect(cockpit.cards.getByRole("button", { name: "Deny", exact: true })).toBeEnabled();
  for (let presses = 0; presses < 12 && (await page.locator(".ask.engaged").count()) === 0; presses += 1)
    await page.keyboard.press("Shift+Tab");
  await expect(page.locator(".ask.engaged")).toBeVisible();
  await page.keyboard.press("d");
  await cockpit.copilot().expectEnded("declined");
});

test.describe("several questions", () => {
  const calls = ["one", "two"].map((name) => ({
    name: "copilot_agent",
    arguments: { prompt: `run \`echo ${name}\``, session_name: name },
  }));
  test.use({
    setup: {
      policy: "ask",
      script: [
        { when: { last_user_contains: "both", has_tool_result: true }, reply: { text: "Both are done." } },
        { when: { last_user_contains: "both" }, reply: { tool_calls: calls } },
      ],
    },
  });

  test("the next question is not answered by the second press on the one before", async ({ cockpit, page }) => {
    await cockpit.send("both");
    await expect(page.locator(".pager").filter({ visible: true })).toContainText("1 of 2");
    await pressTwice(page, await middleOf(page, "Allow"), 180);
    await expect(page.locator(".pager").filter({ visible: true })).toHaveCount(0);
    await expect(cockpit.cards.getByRole("button", { name: "Allow" })).toBeEnabled();
    await expect(cockpit.cards).toHaveCount(1);
    await cockpit.cards.getByRole("button", { name: "Allow" }).click();
    await expect(cockpit.answers).toHaveText(["Both are done."]);
  });
});
