import { readFile } from "node:fs/promises";
import type { Locator, Page } from "@playwright/test";
import type { Cockpit } from "../harness/cockpit";
import { expect, expectAccessible, test } from "../harness/test";

async function startSession(cockpit: Cockpit, text: string): Promise<void> {
  await cockpit.newSession();
  await cockpit.send(text);
  await expect(cockpit.answers).toHaveCount(1);
  await cockpit.expectIdle();
}

const idOf = (page: Page) => page.url().match(/[0-9a-f-]{36}/)?.[0] ?? "";

test("sessions are made, renamed, switched and deleted", async ({ cockpit, page }) => {
  await startSession(cockpit, "say apples");
  await startSession(cockpit, "say pears");
  await cockpit.openSessions();
  await expect(cockpit.rows).toHaveCount(2);

  await cockpit.fromRow(cockpit.rows.first(), "Rename");
  const title = cockpit.sidebar.getByRole("textbox", { name: "Session title" });
  await title.fill("Pears");
  await title.press("Enter");
  await expect(cockpit.rows.first()).toContainText("Pears");

  await cockpit.openSession("apples");
  await expect(cockpit.answers).toHaveText(["apples"]);
  await cockpit.openSession("Pears");
  await expect(cockpit.answers).toHaveText(["pears"]);
  await expect(page.getByRole("heading", { name: "Pears" })).toBeVisible();
  await expect(page).toHaveTitle("Pears · VoxPilot");

  await page.reload();
  await expect(cockpit.answers).toHaveText(["pears"]);
  await cockpit.fromHead("Delete");
  await page.getByRole("dialog", { name: "Delete this session?" }).getByRole("button", { name: "Delete" }).click();
  await cockpit.expectHome();
  await expect(cockpit.rows).toHaveCount(1);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(cockpit.answers, "as if nothing had been").toHaveText(["pears"]);
  await cockpit.fromHead("Delete");
  await cockpit.expectHome();
  // Whoever leaves the page has not taken it back.
  await page.reload();
  await cockpit.openSessions();
  await expect(cockpit.rows).toHaveCount(1);
  await expect(cockpit.rows).toContainText("apples");
});

test("what is pinned stays on top, what is archived is out of the way, and both are taken back", async ({
  cockpit,
  page,
}) => {
  await startSession(cockpit, "say apples");
  await startSession(cockpit, "say pears");
  await cockpit.openSessions();
  const row = (text: string) => cockpit.rows.filter({ hasText: text });
  await cockpit.fromRow(row("apples"), "Pin");
  const pinned = cockpit.sidebar.getByRole("list", { name: "Pinned" });
  await page.mouse.move(800, 400);
  await expect(pinned).toContainText("apples");
  await cockpit.fromRow(row("pears"), "Archive");
  await expect(row("pears")).toHaveCount(0);
  await page.reload();
  await cockpit.openSessions();
  await expect(pinned).toContainText("apples");
  await cockpit.sidebar.getByRole("button", { name: "Show archived" }).click();
  const archived = cockpit.sidebar.getByRole("list", { name: "Archived" });
  await expect(archived).toContainText("pears");
  await cockpit.fromRow(archived.locator(".session-row"), "Unarchive");
  await cockpit.sidebar.getByRole("button", { name: "Hide archived" }).click();
  // Nothing moves under the pointer.
  await page.mouse.move(800, 400);
  await expect(row("pears")).toHaveCount(1);
});

test("a session that is deleted elsewhere says so, keeps what was written, and sends nothing anywhere else", async ({
  cockpit,
  page,
  server,
}) => {
  await startSession(cockpit, "say pears");
  await startSession(cockpit, "say apples");
  await cockpit.composer.fill("half a thought");
  expect((await server.call("DELETE", `/api/sessions/${idOf(page)}`)).ok).toBe(true);
  await expect(page.getByText("This session was deleted.")).toBeVisible();
  await expect(cockpit.composer).toHaveCount(0);
  await expect(cockpit.answers, "what was read stays").toHaveText(["apples"]);
  await expect(page.getByRole("note", { name: "Not sent" })).toHaveText("half a thought");
  await expect(page.getByRole("button", { name: "Copy unsent messages" })).toBeVisible();
  await expectAccessible(page);

  await page.reload();
  await expect(page.getByRole("heading", { name: "Session not found" })).toBeVisible();
  await expect(page.getByRole("note", { name: "Not sent" })).toHaveText("half a thought");
  await page.getByRole("main").getByRole("link", { name: "New session" }).click();
  await cockpit.expectHome();
});

test("a bad link says so, and opens nothing else @desktop", async ({ cockpit, page }) => {
  await startSession(cockpit, "say apples");
  for (const [hash, words] of [
    ["#/nowhere", "Page not found"],
    ["#/sessions/00000000-0000-4000-8000-000000000000", "Session not found"],
  ] as const) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, hash);
    await expect(page.getByRole("heading", { name: words })).toBeVisible();
    await expect(cockpit.composer).toHaveCount(0);
    await expectAccessible(page);
  }
  await page.getByRole("main").getByRole("link", { name: "New session" }).click();
  await cockpit.expectHome();
});

test("a link to a session beyond the newest fifty has its title and its settings @desktop", async ({
  cockpit,
  page,
  server,
}) => {
  const old = await (
    await server.call("POST", "/api/sessions", { title: "The oldest", permission_policy: "deny" })
  ).json();
  for (let count = 0; count < 55; count += 1) await server.call("POST", "/api/sessions", { title: `Later ${count}` });
  await page.evaluate((id) => {
    location.hash = `#/sessions/${id}`;
  }, old.id);
  await page.reload();
  await expect(page.getByRole("heading", { name: "The oldest" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Permissions: Deny" })).toBeVisible();

  await expect(cockpit.composer, "where one writes at once").toBeFocused();
  const stops = await countTabs(page, cockpit.composer);
  expect(stops, "Tab presses from the top of the page to the message").toBeLessThan(20);
});

/** From the beginning of the page. */
async function countTabs(page: Page, target: Locator): Promise<number> {
  await page.evaluate(() => {
    (document.activeElement as HTMLElement | null)?.blur();
    window.getSelection()?.removeAllRanges();
  });
  await page.locator(".skip").focus();
  for (let press = 0; press < 200; press += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return press;
    await page.keyboard.press("Tab");
  }
  throw new Error("the keyboard does not reach the message");
}

test("three clicks and an early message make one session", async ({ cockpit, page, server }) => {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route("**/api/sessions", async (route) => {
    if (route.request().method() === "POST") await held;
    await route.continue();
  });
  for (let click = 0; click < 3; click += 1) await cockpit.newSession();
  await cockpit.send("say one");
  // On a desk whoever goes on writing loses no letter, however often the composer is another one.
  const write = (text: string) =>
    cockpit.isPhone ? cockpit.composer.pressSequentially(text) : page.keyboard.type(text);
  await write("say two");
  await expect(page.getByText("Starting the session…")).toBeVisible();
  await cockpit.composer.press("Enter");
  await expect(page.getByRole("list", { name: "Messages on their way" }).getByRole("listitem")).toHaveCount(2);
  await write("say ");
  letGo();
  await expect(cockpit.answers).toHaveText(["one", "two"]);
  await write("three");
  await expect(cockpit.composer).toHaveValue("say three");
  const { sessions } = await (await server.call("GET", "/api/sessions")).json();
  expect(sessions).toHaveLength(1);
});

test("a session that is begun while the server is away is there when it comes back, after a reload too", async ({
  cockpit,
  page,
  context,
}) => {
  await context.route("**/api/sessions", (route) =>
    route.request().method() === "POST" ? route.abort() : route.continue(),
  );
  await cockpit.send("say kept");
  await expect(page.getByText(/waiting for the connection/)).toBeVisible();
  await page.reload();
  await expect(page.getByText(/waiting for the connection/)).toBeVisible();
  await context.unroute("**/api/sessions");
  await expect(cockpit.answers).toHaveText(["kept"]);
  await cockpit.expectIdle();
});

test("everything works from the keyboard @desktop", async ({ cockpit, page }) => {
  await expect(cockpit.composer).toBeFocused();
  await page.keyboard.press("Control+Shift+O");
  await expect(cockpit.composer).toBeFocused();
  await page.keyboard.type("say apples");
  await page.keyboard.press("Enter");
  await expect(cockpit.answers).toHaveText(["apples"]);
  await cockpit.expectIdle();
  await startSession(cockpit, "say pears");

  const links = cockpit.sidebar.locator(".session-link");
  await tabTo(page, links.filter({ hasText: "pears" }), "Shift+Tab");
  await page.keyboard.press("ArrowDown");
  await expect(links.filter({ hasText: "apples" })).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("menuitem", { name: "Rename" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: "Session title" })).toBeFocused();
  await page.keyboard.type("Fruit");
  await page.keyboard.press("Enter");
  await expect(links.filter({ hasText: "Fruit" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(cockpit.answers).toHaveText(["apples"]);
  await expect(cockpit.composer).toBeFocused();

  // It was renamed last, so it stands first.
  await page.keyboard.press("Alt+ArrowDown");
  await expect(cockpit.answers).toHaveText(["pears"]);
  await page.keyboard.press("Alt+ArrowUp");
  await expect(cockpit.answers).toHaveText(["apples"]);
  await cockpit.log.focus();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toContainText("Next that needs you");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await cockpit.log.focus();
  await page.keyboard.press("/");
  await expect(cockpit.composer).toBeFocused();

  await cockpit.send("count to 20000");
  await cockpit.copilot().reaches(20);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await cockpit.copilot().expectEnded("stopped");
});

test("the palette finds sessions, what was said in them, actions and files", async ({ cockpit, page }) => {
  await startSession(cockpit, "say a heron stands here");
  await cockpit.send("say the second thing is a kingfisher");
  await expect(cockpit.answers).toHaveCount(2);
  await startSession(cockpit, "say pears");
  const palette = page.getByRole("dialog", { name: "Find" });
  const find = async (text: string) => {
    await page.keyboard.press("Control+k");
    await palette.getByRole("combobox").fill(text);
  };
  await find("heron");
  await expect(palette.getByRole("option").first()).toContainText("heron");
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await expect(palette).toHaveCount(0);
  await expect(cockpit.answers).toHaveCount(2);

  await find("kingfisher");
  await expect(palette.getByRole("option").filter({ hasText: "kingfisher" }).first()).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(palette).toHaveCount(0);

  await find("new ses");
  await palette.getByRole("option", { name: /New session/ }).click();
  await cockpit.expectHome();
});

test("sessions are a page, a session is a page, and a wipe goes from one to the next @phone", async ({
  cockpit,
  page,
}) => {
  await startSession(cockpit, "say apples");
  await startSession(cockpit, "say pears");
  await expect(cockpit.sidebar).toBeHidden();
  const [first = 0] = await place(page);
  await wipe(page, 300, 60);
  await expect(cockpit.answers).toHaveText(["apples"]);
  await wipe(page, 60, 300);
  await expect(cockpit.answers).toHaveText(["pears"]);
  expect(await place(page), "two steps on by the page, and none by the browser").toEqual([first + 2, first + 2]);
  // What begins at an edge is the browser's: this one goes back and forth by it.
  await wipe(page, 8, 300);
  await expect(cockpit.answers).toHaveText(["apples"]);
  expect(await place(page), "one step back by the browser, and none by the page").toEqual([first + 1, first + 2]);
  await wipe(page, 382, 60);
  await expect(cockpit.answers).toHaveText(["pears"]);
  expect(await place(page)).toEqual([first + 2, first + 2]);
  await cockpit.openSessions();
  await expect(cockpit.rows).toHaveCount(2);
  await expect(cockpit.log).toHaveCount(0);
  await expectAccessible(page);
  await page.goBack();
  await expect(cockpit.answers).toHaveText(["pears"]);
});

/** Where the tab stands in its history, and the last that there is. */
function place(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const { navigation } = window as unknown as {
      navigation: { currentEntry: { index: number }; entries(): unknown[] };
    };
    return [navigation.currentEntry.index, navigation.entries().length - 1];
  });
}

async function wipe(page: Page, from: number, to: number): Promise<void> {
  const client = await page.context().newCDPSession(page);
  const touch = (type: string, x: number) =>
    client.send("Input.dispatchTouchEvent", {
      type: type as "touchStart",
      touchPoints: type === "touchEnd" ? [] : [{ x, y: 400 }],
    });
  await touch("touchStart", from);
  for (let step = 1; step <= 5; step += 1) await touch("touchMove", from + ((to - from) * step) / 5);
  await touch("touchEnd", to);
  await client.detach();
}

test("a session is exported as Markdown, all of it @desktop", async ({ cockpit, page }) => {
  await startSession(cockpit, "say apples");
  const coming = page.waitForEvent("download");
  await cockpit.fromHead("Export as Markdown");
  const file = await coming;
  expect(file.suggestedFilename()).toBe("say-apples.md");
  const text = await readFile(await file.path(), "utf8");
  expect(text).toContain("## You\n\n<!-- ");
  expect(text).toContain("say apples");
  expect(text).toMatch(/\n\napples\n/);
});

test("policy, model and agent can be changed where the session is, and the server's default is chosen again", async ({
  cockpit,
  page,
  server,
}) => {
  await startSession(cockpit, "say apples");
  await cockpit.openPill("Model");
  const model = page.getByRole("textbox", { name: "Another model" });
  await model.fill("no-such-model");
  // News of the session, from another device, leaves what is half written alone.
  await server.call("PATCH", `/api/sessions/${idOf(page)}`, { title: "Renamed elsewhere" });
  await expect(page.getByRole("heading", { name: "Renamed elsewhere", includeHidden: true })).toBeVisible();
  await expect(model).toHaveValue("no-such-model");
  await model.press("Enter");
  // There is no provider that could be asked for it.
  await expect(page.getByRole("dialog", { name: "Add a main AI" })).toBeVisible();
  await page.keyboard.press("Escape");

  await cockpit.choose("Permissions", /^Ask/);
  await expect(page.getByRole("button", { name: "Permissions: Ask" })).toBeVisible();
  await cockpit.send("run `echo asked`");
  await expect(cockpit.cards).toContainText("echo asked");
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();

  await cockpit.choose("Permissions", "Server default (Auto)");
  await expect(page.getByRole("button", { name: /^Permissions: Auto/ })).toBeVisible();
  const { permission_policy } = await (await server.call("GET", `/api/sessions/${idOf(page)}`)).json();
  expect(permission_policy ?? null).toBeNull();
});

async function tabTo(page: Page, target: Locator, key = "Tab"): Promise<void> {
  for (let press = 0; press < 60; press += 1) {
    if (await target.evaluateAll((found) => found.some((element) => element === document.activeElement))) return;
    await page.keyboard.press(key);
  }
  throw new Error(`the keyboard does not reach ${target}`);
}
