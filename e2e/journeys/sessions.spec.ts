import type { Locator, Page } from "@playwright/test";
import type { Cockpit } from "../harness/cockpit";
import { expect, test } from "../harness/test";

async function startSession(cockpit: Cockpit, text: string): Promise<void> {
  await cockpit.openSessions();
  await cockpit.page.getByRole("button", { name: "New session" }).click();
  await expect(cockpit.page.getByRole("heading", { name: "What should be done?" })).toBeVisible();
  await cockpit.send(text);
  await expect(cockpit.answers).toHaveCount(1);
  await cockpit.expectIdle();
}

const rows = (cockpit: Cockpit) => cockpit.sidebar.locator(".session-row");

test("sessions are made, renamed, switched and deleted", async ({ cockpit, page }) => {
  await startSession(cockpit, "say apples");
  await startSession(cockpit, "say pears");
  await cockpit.openSessions();
  await expect(rows(cockpit)).toHaveCount(2);

  const active = cockpit.sidebar.locator(".session-row.active");
  await active.getByRole("button", { name: /^Rename/ }).click();
  const title = cockpit.sidebar.getByRole("textbox", { name: "Session title" });
  await title.fill("Pears");
  await title.press("Enter");
  await expect(active).toContainText("Pears");

  await rows(cockpit).last().getByRole("link").click();
  await expect(cockpit.answers).toHaveText(["apples"]);
  await cockpit.openSessions();
  await cockpit.sidebar.getByRole("link", { name: "Pears" }).click();
  await expect(cockpit.answers).toHaveText(["pears"]);
  await expect(page.getByRole("heading", { name: "Pears" })).toBeVisible();
  await expect(page).toHaveTitle("Pears · VoxPilot");

  await page.reload();
  await expect(cockpit.answers).toHaveText(["pears"]);
  await cockpit.openSessions();
  await active.getByRole("button", { name: "Delete Pears" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Keep it" }).click();
  await expect(rows(cockpit)).toHaveCount(2);
  await active.getByRole("button", { name: "Delete Pears" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(rows(cockpit)).toHaveCount(1);
  await expect(cockpit.answers).toHaveText(["apples"]);
});

test("a session that is deleted elsewhere is left @desktop", async ({ cockpit, page, server }) => {
  await startSession(cockpit, "say apples");
  const id = page.url().match(/[0-9a-f-]{36}/)?.[0];
  const answer = await server.call("DELETE", `/api/sessions/${id}`);
  expect(answer.ok).toBe(true);
  await expect(page.getByRole("heading", { name: "Welcome to VoxPilot" })).toBeVisible();
});

async function tabTo(page: Page, target: Locator, key = "Tab"): Promise<void> {
  for (let press = 0; press < 60; press += 1) {
    if (await target.evaluateAll((found) => found.some((element) => element === document.activeElement))) return;
    await page.keyboard.press(key);
  }
  throw new Error(`the keyboard does not reach ${target}`);
}

test("everything works from the keyboard @desktop", async ({ cockpit, page }) => {
  await tabTo(page, page.getByRole("button", { name: "New session" }));
  await page.keyboard.press("Enter");
  await expect(cockpit.composer).toBeFocused();
  await page.keyboard.type("say apples");
  await page.keyboard.press("Enter");
  await expect(cockpit.answers).toHaveText(["apples"]);

  await tabTo(page, cockpit.sidebar.getByRole("button", { name: /^Rename/ }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.type("Fruit");
  await page.keyboard.press("Enter");
  await expect(cockpit.sidebar.getByRole("link", { name: "Fruit" })).toBeVisible();

  const thought = cockpit.copilot().stream.locator("details.thought");
  await tabTo(page, thought.locator("> summary"));
  await page.keyboard.press("Enter");
  await expect(thought).toHaveAttribute("open");
  await page.keyboard.press("/");
  await expect(cockpit.composer).toBeFocused();

  await tabTo(page, cockpit.sidebar.getByRole("button", { name: "Delete Fruit" }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  // It is hidden at once, and gone a moment later; until then it cannot be opened again.
  await expect(page.locator("dialog.dialog")).toHaveCount(0);
  await expect(cockpit.sidebar.getByRole("button", { name: "Delete Fruit" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toBeVisible();
  await tabTo(page, page.getByRole("dialog").getByRole("button", { name: "Delete" }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Welcome to VoxPilot" })).toBeVisible();
});

test("the list is a drawer that comes and goes @phone", async ({ cockpit, page }) => {
  await startSession(cockpit, "say apples");
  await expect(cockpit.sidebar).not.toBeInViewport();
  await cockpit.openSessions();
  await page.keyboard.press("Escape");
  await expect(cockpit.sidebar).not.toBeInViewport();
  await cockpit.openSessions();
  await page.getByRole("button", { name: "Close the list of sessions" }).click({ position: { x: 380, y: 400 } });
  await expect(cockpit.sidebar).not.toBeInViewport();
  await cockpit.openSessions();
  await rows(cockpit).first().getByRole("link").click();
  await expect(cockpit.sidebar).not.toBeInViewport();
  await expect(cockpit.answers).toHaveText(["apples"]);
});

test("policy, model and agent can be changed where the session is", async ({ cockpit, page, server }) => {
  await startSession(cockpit, "say apples");
  const settings = page.getByRole("button", { name: "Session settings" });
  if (await settings.isVisible()) await settings.click();
  const model = page.getByLabel("Model");
  await model.fill("no-such-model");
  // News of the session, from another device, leaves what is half written alone.
  const id = page.url().match(/[0-9a-f-]{36}/)?.[0];
  await server.call("PATCH", `/api/sessions/${id}`, { title: "Renamed elsewhere" });
  await expect(page.getByRole("heading", { name: "Renamed elsewhere" })).toBeVisible();
  await expect(model).toHaveValue("no-such-model");
  await model.press("Enter");
  await expect(page.getByRole("alert")).toContainText("no endpoint is configured for the model `no-such-model`");

  await page.getByLabel("Permissions").selectOption("ask");
  await expect(page.getByRole("alert")).toBeHidden();
  await cockpit.send("run `echo asked`");
  await expect(cockpit.cards).toContainText("echo asked");
  await cockpit.cards.getByRole("button", { name: "Deny" }).click();
  await cockpit.expectIdle();
});
