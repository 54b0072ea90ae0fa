// A conversation that is longer than anybody reads in one go: a page of it at a time, drawn where it is looked at.

import type { Locator } from "@playwright/test";
import type { Cockpit } from "../harness/cockpit";
import { converse, createSession } from "../harness/talk";
import { expect, test } from "../harness/test";

const turns = 250;

test.use({ setup: { agent: "fast" } });

/** Where a message stands in the window. */
const topOf = async (message: Locator) => (await message.boundingBox())?.y ?? Number.NaN;

async function scrollToTop(cockpit: Cockpit): Promise<void> {
  await cockpit.log.evaluate((log) => {
    log.scrollTop = 0;
  });
}

test("it opens at its end, is read back to its first message, and holds little of itself in the document", async ({
  cockpit,
  page,
  server,
}) => {
  const id = await createSession(server, "long");
  await converse(server, id, turns);
  await page.goto(`${server.url}/#/sessions/${id}`);
  await expect(cockpit.mine.last()).toContainText(`(${turns - 1})`);
  await expect(cockpit.mine.last()).toBeInViewport();

  await test.step("what is read stays where it is while older messages come above it", async () => {
    const before = await cockpit.log.locator(".entry").count();
    await scrollToTop(cockpit);
    const read = cockpit.mine.first();
    const words = (await read.locator(".bubble").innerText()).trim();
    const mine = cockpit.mine.filter({ hasText: words });
    const at = await topOf(mine);
    await expect.poll(() => cockpit.log.locator(".entry").count()).toBeGreaterThan(before);
    await expect.poll(async () => Math.abs((await topOf(mine)) - at), { message: "its place" }).toBeLessThan(2);
  });

  await test.step("back to the first", async () => {
    const first = cockpit.mine.filter({ hasText: "(0)" });
    await expect(async () => {
      await scrollToTop(cockpit);
      await expect(first).toBeVisible({ timeout: 500 });
    }).toPass();
    const entries = cockpit.log.locator(".entry");
    await expect.poll(() => entries.count()).toBeGreaterThanOrEqual(2 * turns);
    await expect.poll(async () => await cockpit.log.locator(".entry:not(.far)").count()).toBeLessThan(120);
  });

  await test.step("and to the end, where the next answer comes", async () => {
    await page.getByRole("button", { name: "Go to the end" }).click();
    await expect(cockpit.mine.last()).toBeInViewport();
    await cockpit.send("flood 3 200 (last)");
    await expect(cockpit.mine.last()).toContainText("(last)");
    await cockpit.expectIdle();
    await expect(cockpit.mine.last()).toBeInViewport();
  });
});
