// One browser, many tabs. Over HTTP/1.1 it has six connections for all of them.

import type { Page } from "@playwright/test";
import { Cockpit } from "../harness/cockpit";
import type { Server } from "../harness/server";
import { createSession, say } from "../harness/talk";
import { expect, test } from "../harness/test";

const tab_count = 20;
const session_count = 4;

const createSessions = async (server: Server) => {
  const ids: string[] = [];
  for (let at = 0; at < session_count; at++) ids.push(await createSession(server, `session ${at}`));
  return ids;
};

test("twenty tabs are live at once, and stay so over a crash of the server @desktop", async ({
  cockpit,
  page,
  context,
  server,
}) => {
  test.setTimeout(600_000);
  const ids = await createSessions(server);
  const tabs: { cockpit: Cockpit; page: Page; id: string }[] = [];
  for (let at = 0; at < tab_count; at++) {
    const id = ids[at % session_count] ?? "";
    const tab = at === 0 ? page : await context.newPage();
    await tab.goto(`${server.url}/#/sessions/${id}`);
    tabs.push({ cockpit: at === 0 ? cockpit : new Cockpit(tab), page: tab, id });
  }
  for (const tab of tabs) await expect(tab.cockpit.composer).toBeVisible();

  for (const id of ids) await say(server, id, "say hello");
  for (const tab of tabs) await expect(tab.cockpit.answers).toHaveText(["hello"]);

  await test.step("an ordinary call has a connection left", async () => {
    const last = tabs.at(-1);
    await last?.cockpit.send("say ordinary");
    for (const tab of tabs.filter(({ id }) => id === last?.id)) {
      await expect(tab.cockpit.answers.last()).toHaveText("ordinary");
    }
  });

  await test.step("all of them come back", async () => {
    await server.crash();
    await server.startAgain();
    for (const id of ids) await say(server, id, "say again");
    for (const tab of tabs) {
      await expect(tab.cockpit.answers.last()).toHaveText("again");
      // Nothing twice.
      await expect(tab.cockpit.answers.getByText("again", { exact: true })).toHaveCount(1);
    }
  });

  await test.step("a tab that is closed takes nobody's stream with it", async () => {
    await tabs[0]?.page.close();
    for (const id of ids) await say(server, id, "say once more");
    for (const tab of tabs.slice(1)) await expect(tab.cockpit.answers.last()).toHaveText("once more");
  });
});

test("a new session and its state appear in the list of another tab without a poll @desktop", async ({
  cockpit,
  context,
  server,
}) => {
  const other = await context.newPage();
  await other.goto(server.url);
  await expect(new Cockpit(other).composer).toBeVisible();
  await server.call("POST", "/api/sessions", { title: "made elsewhere" });
  for (const { page } of [cockpit, new Cockpit(other)]) {
    await expect(page.getByRole("navigation", { name: "Sessions" }).getByText("made elsewhere")).toBeVisible();
  }
});

test("without a shared worker one tab reads for the others, and another one when it goes", async ({
  cockpit,
  page,
  context,
  server,
}) => {
  const [id = ""] = await createSessions(server);
  await context.addInitScript(() => Reflect.deleteProperty(window, "SharedWorker"));
  const streams: string[] = [];
  context.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.endsWith("/stream") && pathname !== "/api/stream") streams.push(pathname);
  });
  const tabs = [cockpit];
  await page.goto(`${server.url}/#/sessions/${id}`);
  await page.reload();
  while (tabs.length < 8) {
    const tab = await context.newPage();
    await tab.goto(`${server.url}/#/sessions/${id}`);
    tabs.push(new Cockpit(tab));
  }
  expect(await page.evaluate(() => typeof SharedWorker)).toBe("undefined");
  await say(server, id, "say hello");
  for (const { answers } of tabs) await expect(answers).toHaveText(["hello"]);

  await test.step("the first, which reads, is closed", async () => {
    await page.close();
    await say(server, id, "say again");
    for (const { answers } of tabs.slice(1)) await expect(answers).toHaveText(["hello", "again"]);
  });

  await test.step("the server dies", async () => {
    await server.crash();
    await server.startAgain();
    await say(server, id, "say once more");
    for (const { answers } of tabs.slice(1)) await expect(answers).toHaveText(["hello", "again", "once more"]);
  });
  expect(streams, "streams of a tab's own").toEqual([]);
});
