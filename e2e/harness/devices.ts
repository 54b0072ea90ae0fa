// The dialog of devices in the words of somebody who uses it.

import { type Browser, expect, type Locator, type Page } from "@playwright/test";
import { Cockpit } from "./cockpit";
import type { Server } from "./server";

export class Devices {
  readonly dialog: Locator;
  readonly rows: Locator;
  readonly panel: Locator;

  constructor(readonly cockpit: Cockpit) {
    this.dialog = cockpit.page.getByRole("dialog", { name: "Devices" });
    this.rows = this.dialog.getByRole("list", { name: "Signed-in devices" }).locator("> li");
    this.panel = this.dialog.getByRole("region", { name: "Add a device" });
  }

  async open(): Promise<void> {
    await this.cockpit.openSessions();
    await this.cockpit.page.getByRole("link", { name: "Devices" }).click();
    await expect(this.rows.first()).toBeVisible();
  }

  async close(): Promise<void> {
    await this.dialog.getByRole("button", { name: "Close" }).click();
    await expect(this.dialog).toHaveCount(0);
  }

  /** Makes a way in for another device: the link and the code that are shown. */
  async makeLink(kind: "Full" | "Watch only" = "Full"): Promise<{ url: string; code: string }> {
    await this.dialog.getByRole("button", { name: "Add a device" }).click();
    const make = this.panel.getByRole("button", { name: "Make a link" });
    const here = this.panel.getByRole("radio", { name: "This computer only" });
    await expect(make.or(here).first()).toBeVisible();
    // At an address that no phone can reach, another browser on this computer is left.
    if (!(await make.isVisible())) await here.check();
    await this.panel.getByRole("radio", { name: kind }).check();
    await make.click();
    const url = (await this.panel.locator(".pairing-link code").textContent()) ?? "";
    const code = (await this.panel.locator(".pairing-code").textContent()) ?? "";
    return { url, code };
  }
}

/** Opens the server to the network that this machine is in, as somebody did before. */
export async function openNetwork(server: Server): Promise<void> {
  const { network } = await (await server.call("GET", "/api/reach")).json();
  const { status } = await server.call("PUT", "/api/reach/network", { address: network.candidates[0].address });
  expect(status).toBe(200);
}

/** A browser of its own, as another device is; it has accepted the warning about a certificate. */
export async function anotherDevice(browser: Browser, page: Page): Promise<Cockpit> {
  const context = await browser.newContext({ viewport: page.viewportSize(), ignoreHTTPSErrors: true });
  return new Cockpit(await context.newPage());
}
