import { anotherDevice, Devices } from "../harness/devices";
import { expect, expectAccessible, test } from "../harness/test";

const signedOut = "This device was signed out";

test("a second device comes in by a link, is seen, renamed, revoked, and leaves at once", async ({
  cockpit,
  page,
  browser,
}) => {
  await cockpit.send("say hello");
  await expect(cockpit.answers).toHaveText(["hello"]);
  const devices = new Devices(cockpit);
  await devices.open();
  await expect(devices.rows).toHaveCount(1);
  await expect(devices.rows).toContainText("this device");
  const { url } = await devices.makeLink();
  await expect(devices.panel).toContainText(/Single use, expires in \d+:\d\d\./);
  await expect(devices.panel.getByRole("img"), "no camera could open it").toHaveCount(0);
  await expectAccessible(page);
  await cockpit.expectNoSidewaysScroll();

  const other = await anotherDevice(browser, page);
  await other.signIn(url);
  await other.openSession();
  await expect(other.answers).toHaveText(["hello"]);
  await expect(devices.panel.getByRole("status")).toContainText("is signed in");
  await expect(devices.rows).toHaveCount(2);

  const row = devices.rows.filter({ hasNotText: "this device" });
  await row.getByRole("button", { name: /^Rename/ }).click();
  await devices.dialog.getByRole("textbox", { name: "Name of the device" }).fill("My phone");
  await page.keyboard.press("Enter");
  await expect(row).toContainText("My phone");
  await row.getByRole("button", { name: "Revoke My phone" }).click();
  await expectAccessible(page);
  await row.getByRole("button", { name: "Revoke", exact: true }).click();
  await expect(devices.rows).toHaveCount(1);
  await expect(other.page.getByRole("heading", { name: signedOut })).toBeVisible();
  await expectAccessible(other.page);
  await other.page.reload();
  await expect(other.page.getByRole("heading", { name: "Sign in to VoxPilot" })).toBeVisible();

  await devices.dialog.getByText("Recent activity").click();
  const told = devices.dialog.locator(".activity li");
  await expect(told.filter({ hasText: "device revoked: My phone" })).toHaveCount(1);
  await expect(told.filter({ hasText: "sign in" })).toHaveCount(2);
  await expect(told.filter({ hasText: "prompt" })).toHaveCount(1);
  await devices.close();
  await cockpit.backToSession();
  await cockpit.send("say still here");
  await expect(cockpit.answers).toHaveText(["hello", "still here"]);
  await other.page.context().close();
});

test("a second device comes in by a code that is typed, and the code is good once", async ({
  cockpit,
  page,
  browser,
  server,
}) => {
  const devices = new Devices(cockpit);
  await devices.open();
  const { code } = await devices.makeLink();
  const other = await anotherDevice(browser, page);
  await other.page.goto(server.url);
  await other.page.getByLabel("Pairing code").fill(code.toLowerCase().replace("-", " "));
  await other.page.getByRole("button", { name: "Sign in" }).click();
  await expect(other.composer).toBeEnabled();
  await expect(devices.rows).toHaveCount(2);

  const third = await anotherDevice(browser, page);
  await third.page.goto(server.url);
  await third.page.getByLabel("Pairing code").fill(code);
  await third.page.getByRole("button", { name: "Sign in" }).click();
  await expect(third.page.getByRole("alert")).toContainText("already used");
  for (const { page } of [other, third]) await page.context().close();
});

test.describe("a device that can only watch", () => {
  test.use({ setup: { policy: "ask" } });

  test("sees everything live, can do nothing, and is told why", async ({ cockpit, page, browser, server }) => {
    const devices = new Devices(cockpit);
    await devices.open();
    const { url } = await devices.makeLink("Watch only");
    const watcher = await anotherDevice(browser, page);
    await watcher.page.goto(url);
    await expect(devices.rows.filter({ hasText: "watch only" })).toHaveCount(1);
    await devices.close();
    await cockpit.send("run `echo watched`");
    await expect(cockpit.cards).toContainText("echo watched");

    await watcher.openSession();
    await expect(watcher.mine).toContainText("echo watched");
    await expect(watcher.cards.locator("code.command")).toHaveText("echo watched");
    await expect(watcher.cards).toContainText("This device can only watch.");
    for (const button of await watcher.cards.getByRole("button", { name: /^(?!Put aside)/ }).all()) await expect(button).toBeDisabled();
    await expect(watcher.composer).toBeDisabled();
    await expect(watcher.composer).toHaveAttribute("placeholder", "This device can only watch.");
    await expect(watcher.stop).toBeDisabled();
    await expectAccessible(watcher.page);
    const refused = await watcher.page.evaluate(async () => {
      const headers = {
        "x-voxpilot-key": localStorage.getItem("voxpilot.key") ?? "",
        "content-type": "application/json",
      };
      const answer = await fetch("/api/sessions", { method: "POST", headers, body: "{}" });
      return [answer.status, (await answer.json()).error.code];
    });
    expect(refused, "nor does the server let it").toEqual([403, "read_only"]);

    const own = new Devices(watcher);
    await own.open();
    await expect(own.rows).toHaveCount(2);
    await expect(own.dialog.getByRole("button", { name: "Add a device" })).toBeDisabled();
    await expect(own.dialog.getByRole("button", { name: /^Revoke/ })).toHaveCount(0);
    await own.close();
    await watcher.backToSession();
    await expect(watcher.cards).toHaveCount(1);

    await cockpit.cards.getByRole("button", { name: "Allow" }).click();
    await expect(watcher.cards).toHaveCount(0);
    await watcher.copilot().expectEnded("done");
    expect(server.url).toContain("127.0.0.1");
    await watcher.page.context().close();
  });
});

test("signing out ends this device, and a link of the command line brings it back", async ({
  cockpit,
  page,
  server,
}) => {
  const devices = new Devices(cockpit);
  await devices.open();
  await devices.dialog.getByRole("button", { name: "Sign out this device" }).click();
  await expect(page.getByRole("heading", { name: "Signed out" })).toBeVisible();
  expect(await page.evaluate(() => localStorage.getItem("voxpilot.key"))).toBeNull();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Sign in to VoxPilot" })).toBeVisible();
  await cockpit.signIn(await server.freshLink("--name", "Back again"));
  await devices.open();
  await expect(devices.rows).toHaveCount(1);
  await expect(devices.rows).toContainText("Back again");
});

test("several pages of one browser share its key @desktop", async ({ page, server }) => {
  await page.goto(server.link);
  const others = await Promise.all(Array.from({ length: 4 }, () => page.context().newPage()));
  await Promise.all(others.map((other) => other.goto(server.url)));
  for (const one of [page, ...others]) {
    await expect(one.locator("main .home")).toBeVisible();
  }
});
