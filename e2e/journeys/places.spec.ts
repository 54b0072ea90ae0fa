// The screens around the conversation, as they are shown in docs/screens.

import { Devices, openNetwork } from "../harness/devices";
import { photograph } from "../harness/screens";
import { parcel } from "../harness/stage/parcel";
import { endAll, make } from "../harness/stage/rows";
import { expect, test } from "../harness/test";

// Every picture is one of each scheme and size, and each is judged.
test.describe.configure({ timeout: 600_000 });

const titles = ["Cache carrier responses", "OpenAPI from the route table", "Split parcels table by month"];

test("the door: signing in, a wrong code, signed out", async ({ page, server }, info) => {
  await page.goto(server.url);
  await expect(page.getByLabel("Pairing code")).toBeVisible();
  await photograph(page, info, "sign-in");
  await page.getByLabel("Pairing code").fill("AAAA-AAAA");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await photograph(page, info, "sign-in-wrong");
  await page.goto(server.link);
  await expect(page.getByRole("textbox", { name: "Message", exact: true })).toBeVisible();
  await page.context().clearCookies();
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});

test("a device that was signed out, and one without a server", async ({ cockpit, page, server }, info) => {
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload();
  await expect(cockpit.composer).toBeVisible();
  await server.crash();
  await page.goto(server.url);
  await expect(page.getByRole("heading", { name: "The server cannot be reached" })).toBeVisible();
  await photograph(page, info, "offline");
  await server.startAgain();
  await expect(cockpit.composer).toBeVisible();
  await cockpit.composer.fill("say hello");
  await page.context().clearCookies();
  // The page may notice by itself before.
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "This device was signed out" })).toBeVisible();
  await photograph(page, info, "signed-out");
});

test.describe("in a project", () => {
  test.use({ setup: parcel, serviceWorkers: "block" });
  test.afterEach(async ({ server }) => await endAll(server));

  test("the first start, a session that is new, and one that is gone", async ({ cockpit, page, server }, info) => {
    if (info.project.name === "phone") await cockpit.composer.focus();
    await expect(page.getByRole("list", { name: "First steps" })).toBeVisible();
    await photograph(page, info, "first-run");
    const id = await make(server, "Cache carrier responses");
    await page.goto(`${server.url}/#/sessions/${id}`);
    await expect(cockpit.log).toContainText("What should be done?");
    await photograph(page, info, "new-session");
    await cockpit.send("Explain the label printer code");
    await expect(cockpit.answers).toContainText("ZPL");
    await cockpit.expectIdle();
    await server.call("DELETE", `/api/sessions/${id}`);
    await expect(cockpit.composer).toHaveCount(0);
    await photograph(page, info, "gone");
  });

  test("settings and agents", async ({ cockpit, page, server }, info) => {
    for (const title of titles) await make(server, title);
    await expect(cockpit.composer).toBeVisible();
    await page.goto(`${server.url}/#/settings/permissions`);
    await expect(page.locator(".setting[data-key=permission_policy]")).toBeVisible();
    await photograph(page, info, "settings");
    await page.goto(`${server.url}/#/agents`);
    await expect(page.getByRole("heading", { name: "Claude Code" })).toBeVisible();
    await photograph(page, info, "agents");
  });

  test("devices, and a phone that is added", async ({ cockpit, page, server }, info) => {
    const devices = new Devices(cockpit);
    await devices.open();
    await photograph(page, info, "devices");
    await devices.dialog.getByRole("button", { name: "Add a device" }).click();
    await expect(devices.panel.getByRole("radio", { name: "Tailscale" })).toBeVisible();
    await photograph(page, info, "ways-for-a-phone");
    await devices.panel.getByRole("button", { name: "Cancel" }).click();
    await openNetwork(server);
    await devices.makeLink();
    await expect(devices.panel.getByRole("img", { name: "QR code of the link" })).toBeVisible();
    await photograph(page, info, "add-a-phone");
  });

  test("sessions to resume, traffic, keys, saved permissions", async ({ cockpit, page, server }, info) => {
    for (const title of titles) await make(server, title);
    await expect(cockpit.composer).toBeVisible();
    await page.goto(`${server.url}/#/conversations`);
    await expect(page.getByRole("listitem").filter({ hasText: "Cache carrier" }).first()).toBeVisible();
    await photograph(page, info, "resume");
    const id = await make(server, "Split parcels table by month");
    await page.goto(`${server.url}/#/sessions/${id}`);
    await cockpit.send("Split parcels table by month");
    await cockpit.copilot().expectEnded("done");
    await cockpit.expectIdle();
    await cockpit.fromHead("Agent traffic");
    await expect(page.getByRole("dialog", { name: "Agent traffic" }).getByRole("listitem").first()).toBeVisible();
    await photograph(page, info, "traffic");
    await page.keyboard.press("Escape");
    await cockpit.log.focus();
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
    await photograph(page, info, "keys");
  });
});
