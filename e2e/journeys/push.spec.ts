// Web Push in one piece: the page subscribes, the server sends, a push service checks and decrypts it, and exactly that becomes
// the notification that is answered.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Pushed, PushService } from "../harness/pushService";
import { test as base, expect } from "../harness/test";
import { press, push, shown, workerOf } from "../harness/worker";

const test = base.extend<{ service: PushService }>({
  service: async ({ context }, use) => {
    const service = await PushService.start();
    await service.servesFor(context);
    await use(service);
    await service.stop();
    expect(service.refused, "what the push service refused").toEqual([]);
  },
  // The browser has its push service before the page is opened.
  cockpit: async ({ service: _, cockpit }, use) => await use(cockpit),
});
// The push service of the test is on this machine, where notifications are sent only if the operator allows it.
const settings = () => 'push_hosts = "127.0.0.1:*"';
test.use({ setup: { policy: "ask", settings }, permissions: ["notifications"] });

/** The words that came since, once one of this kind has. */
async function until(service: PushService, kind: string, from = 0): Promise<Pushed> {
  const found = () => service.pushed.slice(from).find(({ payload }) => payload.kind === kind);
  await expect.poll(found, { message: `a push of the kind ${kind}` }).toBeDefined();
  return found() as Pushed;
}

test("from turning notifications on to the answer that is given in one, and the word that it is done @phone", async ({
  service,
  cockpit,
  context,
  page,
  server,
}) => {
  const own = await workerOf(context, page);
  const cdp = await context.newCDPSession(page);
  await page.goto(`${server.url}/#/settings/notifications`);
  await page.getByRole("switch", { name: "Notifications on this device" }).tap();
  await page.getByRole("button", { name: "Send a test" }).tap();
  const { payload: trial } = await until(service, "test");
  await push(cdp, server.url, trial);
  await expect.poll(() => shown(own)).toHaveLength(1);
  await push(cdp, server.url, { ...trial, kind: "closed" });
  await expect.poll(() => shown(own)).toEqual([]);

  await page.goto(server.url);
  await cockpit.expectHome();
  await expect(page.getByRole("button", { name: "Notifications are on" })).toBeVisible();
  await cockpit.send("create a file notes.txt with hello from the train");
  await expect(cockpit.cards).toBeVisible();
  const link = page.url();
  await page.goto(`${server.url}/#/agents`);
  const { payload: question, urgency } = await until(service, "needs-you");
  expect(urgency).toBe("high");
  expect(link).toContain(question.session_id ?? "no session");
  await push(cdp, server.url, question);
  await expect.poll(() => shown(own)).toHaveLength(1);
  const [asked] = await shown(own);
  expect(asked?.title).toBe("create a file notes.txt…");
  expect(asked?.body).toMatch(/^Needs you: .*notes\.txt/);
  expect(asked?.actions).toEqual(["Allow", "Deny"]);
  expect(existsSync(join(server.work, "notes.txt")), "nothing happens before the answer").toBe(false);
  await press(own, "allow_once");
  await expect.poll(() => existsSync(join(server.work, "notes.txt"))).toBe(true);

  const { payload: done } = await until(service, "done");
  expect(done.session_id).toBe(question.session_id);
  await push(cdp, server.url, done);
  await expect.poll(async () => (await shown(own))[0]?.body).toMatch(/^Done/);
  expect((await shown(own))[0]?.title).toBe(question.title);
  await press(own, "");
  await expect(page, "the notification leads into its session").toHaveURL(link);
  await cockpit.copilot().expectEnded("done");
});

test("a muted session calls nobody, and a device that turned it off is not called @phone", async ({
  service,
  cockpit,
  page,
  server,
}) => {
  await cockpit.openSessions();
  await page.getByRole("button", { name: "Turn on notifications" }).tap();
  await expect(page.getByRole("button", { name: "Notifications are on" })).toBeVisible();
  await cockpit.send("say muted");
  await until(service, "done");
  await cockpit.fromHead("Mute notifications");
  const before = service.pushed.length;
  await cockpit.send("run `echo muted`");
  await expect(cockpit.cards).toContainText("echo muted");
  await cockpit.newSession();
  await cockpit.send("run `echo loud`");
  await expect(cockpit.cards).toContainText("echo loud");
  // What happened first would be told first.
  const { payload } = await until(service, "needs-you", before);
  expect(payload.title).toContain("echo loud");
  const kinds = service.pushed.slice(before).map(({ payload }) => [payload.kind, payload.title]);
  expect(kinds).toEqual([["needs-you", payload.title]]);

  await page.goto(`${server.url}/#/settings/notifications`);
  const toggle = page.getByRole("switch", { name: "Notifications on this device" });
  await expect(toggle).toBeChecked();
  await toggle.tap();
  await expect(toggle).not.toBeChecked();
  const subscribed = await page.evaluate(async () => {
    const headers = { "x-voxpilot-key": localStorage.getItem("voxpilot.key") ?? "" };
    return (await (await fetch("/api/push", { headers })).json()).subscribed;
  });
  expect(subscribed, "nor does the server know of it").toBe(false);
  for (const title of ["echo loud", "say muted"]) {
    await cockpit.openSession(title);
    await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).tap();
    await cockpit.expectIdle();
  }
  expect(service.pushed.slice(before), "since then").toHaveLength(1);
});
