// Somebody has put the phone away: they are called, read what it is about, and decide.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "../harness/test";

test.use({ setup: { policy: "ask" }, permissions: ["notifications"] });

interface Told {
  title: string;
  body: string | undefined;
}

/** Lets the page believe that nobody looks at it, and writes down what it has the browser show. */
async function putAway(page: Page): Promise<void> {
  await page.evaluate(() => {
    const told: Told[] = [];
    Object.assign(window, { told });
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
    ServiceWorkerRegistration.prototype.showNotification = async (title, options) => {
      told.push({ title, body: options?.body });
    };
  });
}

const told = (page: Page) => page.evaluate(() => (window as unknown as { told: Told[] }).told);

test("get notified, read the change, approve, see it done @phone", async ({ cockpit, page, server }) => {
  await putAway(page);
  await cockpit.send("create a file notes.txt with hello from the train");
  await expect.poll(() => told(page)).toHaveLength(1);
  const [notification] = await told(page);
  expect(notification?.title).toContain("VoxPilot");
  expect(notification?.body).toMatch(/^main asks: /);
  await expect(page).toHaveTitle(/^\(1\)/);
  await expect(page.locator("link[rel=icon]")).toHaveAttribute("href", "/favicon-waiting.svg");

  const card = cockpit.cards;
  await expect(card.getByRole("heading")).toHaveText(/^Edit .*notes\.txt\?$/);
  await expect(card).toContainText("notes.txt");
  await expect(card.locator(".call-diff .code.add")).toHaveText(/hello from the train$/);
  expect(existsSync(join(server.work, "notes.txt")), "nothing happens before the answer").toBe(false);
  await card.getByRole("button", { name: "Allow" }).tap();
  await expect(card).toHaveCount(0);
  await cockpit.copilot().expectEnded("done");
  expect(readFileSync(join(server.work, "notes.txt"), "utf8")).toBe("hello from the train");
  await expect(page).not.toHaveTitle(/^\(/);
  await expect(page.locator("link[rel=icon]")).toHaveAttribute("href", "/favicon.svg");
  expect(await told(page), "one question, one call").toHaveLength(1);
});
