// The dialog of devices in the words of somebody who uses it.

import { type Browser, expect, type Locator, type Page } from "@playwright/test";
import { Cockpit } from "./cockpit";

export class Devices {
  readonly dialog: Locator;
  readonly rows: Locator;
  readonly panel: Locator;

  constructor(readonly cockpit: Cockpit) {
    this.dialog = cockpit.page.getByRole("dialog", { name: "Devices" });
    this.rows = this.dialog.getByRole("list", { name: "Devices that are let in" }).locator("> li");
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
    await this.panel.getByRole("radio", { name: kind }).check();
    await this.panel.getByRole("button", { name: "Make a link" }).click();
    const url = (await this.panel.locator(".pairing-link code").textContent()) ?? "";
    const code = (await this.panel.locator(".pairing-code").textContent()) ?? "";
    return { url, code };
  }
}

/** A browser of its own, as another device is. */
export async function anotherDevice(browser: Browser, page: Page): Promise<Cockpit> {
  const context = await browser.newContext({ viewport: page.viewportSize() });
  return new Cockpit(await context.newPage());
}
