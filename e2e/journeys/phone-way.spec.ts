// A phone that cannot reach the server: the ways that are offered, and the network that is opened after consent.

import { anotherDevice, Devices } from "../harness/devices";
import { readQr } from "../harness/qr";
import { expect, expectAccessible, test } from "../harness/test";

test("the network is opened after consent, a phone comes in by the QR code, and it can be closed again", async ({
  cockpit,
  page,
  browser,
  server,
}) => {
  const port = new URL(server.url).port;
  const step = page.getByRole("list", { name: "First steps" }).getByRole("listitem").filter({ hasText: "Add your phone" });
  await step.getByRole("button", { name: "Add your phone" }).click();
  await expect(step).toContainText(`A phone can’t reach this address yet. VoxPilot listens on 127.0.0.1:${port}`);
  await expect(step.getByRole("img", { name: "QR code of the link" })).toHaveCount(0);
  await step.getByRole("radio", { name: "Tailscale" }).check();
  await expect(step).toContainText(`tailscale serve --bg ${port}`);
  await step.getByRole("radio", { name: "Your own domain" }).check();
  await step.getByRole("textbox", { name: "Domain" }).fill("vox.example");
  await expect(step).toContainText(
    `VOXPILOT_ALLOWED_HOSTS=vox.example VOXPILOT_TRUSTED_PROXIES=127.0.0.1 voxpilot serve --bind 127.0.0.1:${port}`,
  );
  await step.getByRole("radio", { name: "Same Wi-Fi" }).check();
  await expect(step).toContainText(`voxpilot serve --bind 0.0.0.0:${port} --tls self-signed`);
  await expectAccessible(page);

  await step.getByRole("button", { name: "Turn on…" }).click();
  const consent = page.getByRole("dialog", { name: /^Open VoxPilot to/ });
  const address = (await consent.locator("code").textContent()) ?? "";
  expect(address).toMatch(new RegExp(`^https://.+:${port}$`));
  await expectAccessible(page);
  await consent.getByRole("button", { name: "Cancel" }).click();
  expect((await (await server.call("GET", "/api/reach")).json()).network.url, "nothing without consent").toBeUndefined();
  await step.getByRole("button", { name: "Turn on…" }).click();
  await consent.getByRole("button", { name: "Turn on", exact: true }).click();

  const picture = step.getByRole("img", { name: "QR code of the link" });
  await picture.evaluate((image: HTMLImageElement) => image.decode());
  const drawn = decodeURIComponent((await picture.getAttribute("src"))?.replace("data:image/svg+xml,", "") ?? "");
  const link = readQr(drawn);
  expect(link.startsWith(`${address}/login?link=`), link).toBe(true);
  await expect(step.locator(".fingerprint")).toHaveText(/^([0-9A-F]{2}:?){32}$/);
  await expectAccessible(page);
  await cockpit.expectNoSidewaysScroll();

  const phone = await anotherDevice(browser, page);
  await phone.signIn(link);
  await expect(page.getByRole("list", { name: "First steps" })).toContainText("Another device is signed in");
  await phone.send("say hello");
  await expect(phone.answers).toHaveText(["hello"]);
  await phone.expectIdle();

  await server.stop();
  await server.startAgain();
  await phone.page.reload();
  await expect(phone.answers, "it is open again after a restart").toHaveText(["hello"]);

  const devices = new Devices(cockpit);
  await page.goto(`${server.url}/#/devices`);
  await devices.dialog.getByRole("button", { name: "Add a device" }).click();
  await expect(devices.panel).toContainText(`${address} answers.`);
  await devices.panel.getByRole("button", { name: "Turn off" }).click();
  await expect(devices.panel).toContainText("A phone can’t reach this address yet.");
  await expect.poll(() => fetch(address).then(() => "open", () => "closed")).toBe("closed");
  await phone.page.context().close();
});

test("an address that does not answer is named, and another way can be chosen @desktop", async ({ cockpit, page, server }) => {
  await page.route("**/api/reach/check?*", (route) =>
    route.fulfill({ json: { answers: false, problem: "192.168.1.20 can't be reached: connection refused." } }),
  );
  const devices = new Devices(cockpit);
  await devices.open();
  await devices.dialog.getByRole("button", { name: "Add a device" }).click();
  await devices.panel.getByRole("radio", { name: "Same Wi-Fi" }).check();
  await devices.panel.getByRole("button", { name: "Turn on…" }).click();
  await page.getByRole("dialog", { name: /^Open/ }).getByRole("button", { name: "Turn on", exact: true }).click();
  await expect(devices.panel.getByRole("alert")).toContainText("connection refused");
  await expect(devices.panel).toContainText(`sudo ufw allow ${new URL(server.url).port}/tcp`);
  await expect(devices.panel.getByRole("button", { name: "Make a link" })).toHaveCount(0);
  await expectAccessible(page);
  await devices.panel.getByRole("button", { name: "Turn off again" }).click();
  await expect(devices.panel.getByRole("radio", { name: "Tailscale" })).toBeVisible();
});
