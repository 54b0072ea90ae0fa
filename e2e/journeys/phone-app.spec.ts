// The page as an app on a phone: it can be installed, opens without a network, and calls somebody who answers from the notification.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, expectAccessible, test } from "../harness/test";
import { press, push, shown, workerOf } from "../harness/worker";

test.use({ setup: { policy: "ask" }, permissions: ["notifications"] });

/** The question that waits, as the server would push it. */
async function question(server: { url: string; token: string }) {
  const get = async (path: string) => {
    const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${server.token}` } });
    return response;
  };
  const latest = async () => {
    const { sessions } = (await (await get("/api/sessions")).json()) as { sessions: { id: string; title: string }[] };
    return sessions[0] ?? { id: "", title: "" };
  };
  // It has its title once the message is there.
  await expect.poll(async () => (await latest()).title).not.toBe("");
  const session = await latest();
  const response = await get(`/api/sessions/${session.id}/stream`);
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const found = /event: permission-request\ndata: (.*)\n/.exec(text);
    if (found?.[1]) {
      await reader?.cancel();
      return { session, request: JSON.parse(found[1]) };
    }
    const piece = await reader?.read();
    if (!piece || piece.done) throw new Error("nothing is asked");
    text += decoder.decode(piece.value, { stream: true });
  }
}

test("Chromium finds nothing that keeps the page from being installed", async ({ cockpit, context, page }) => {
  await workerOf(context, cockpit.page);
  const cdp = await context.newCDPSession(page);
  const { errors, url } = await cdp.send("Page.getAppManifest");
  expect(errors).toEqual([]);
  expect(url).toMatch(/\/manifest\.webmanifest$/);
  const { installabilityErrors } = await cdp.send("Page.getInstallabilityErrors");
  const wrong = installabilityErrors.filter(({ errorId }) => errorId !== "in-incognito");
  expect(wrong).toEqual([]);
});

test("without the server the page opens, says so, and goes on when it is back", async ({
  cockpit,
  context,
  page,
  server,
}) => {
  await workerOf(context, cockpit.page);
  await page.reload();
  await expect(cockpit.composer).toBeVisible();
  await server.crash();
  await page.goto(server.url);
  await expect(page.getByRole("heading", { name: "The server cannot be reached" })).toBeVisible();
  await expectAccessible(page);
  await server.startAgain();
  await expect(cockpit.composer).toBeVisible();
});

test("allow from the notification, without opening the page @phone", async ({ cockpit, context, page, server }) => {
  const own = await workerOf(context, page);
  const cdp = await context.newCDPSession(page);
  await cockpit.send("create a file notes.txt with hello from the train");
  const { session, request } = await question(server);
  const payload = {
    kind: "needs-you",
    session_id: session.id,
    title: session.title,
    text: request.title,
    request_id: request.request_id,
    options: request.options,
  };
  await push(cdp, server.url, payload);
  // While the question stands in front of somebody they are not called; another word comes behind it, and alone.
  await push(cdp, server.url, { kind: "done", session_id: "another", title: "Another", text: "" });
  await expect.poll(() => shown(own)).toHaveLength(1);
  expect((await shown(own))[0]?.title).toBe("Another");
  await push(cdp, server.url, { kind: "closed", session_id: "another", title: "Another", text: "" });
  await expect.poll(() => shown(own)).toEqual([]);
  await page.goto(`${server.url}/#/agents`);
  await expect(page.getByRole("heading", { name: "Agents" }).first()).toBeVisible();
  await push(cdp, server.url, payload);
  await expect.poll(() => shown(own)).toHaveLength(1);
  const [notification] = await shown(own);
  expect(notification?.title).toBe(session.title);
  expect(notification?.body).toContain("Needs you");
  expect(notification?.actions).toEqual(["Allow", "Deny"]);
  expect(existsSync(join(server.work, "notes.txt")), "nothing happens before the answer").toBe(false);
  await press(own, "allow_once");
  await expect.poll(() => existsSync(join(server.work, "notes.txt"))).toBe(true);
  await expect.poll(() => shown(own)).toEqual([]);

  // The same answer once more: it is said that it did not count.
  await push(cdp, server.url, payload);
  await expect.poll(() => shown(own)).toHaveLength(1);
  await press(own, "allow_once");
  await expect.poll(async () => (await shown(own))[0]?.body).toContain("already answered");
  await push(cdp, server.url, { kind: "closed", session_id: session.id, title: session.title, text: "" });
  await expect.poll(() => shown(own)).toEqual([]);
});
