// After a stop what is queued waits for a click, and nothing new lies where Stop was.

import { expect, expectAccessible, test } from "../harness/test";

test.use({ setup: { policy: "ask" } });

test("a stop holds the queue until Send next, also during a question", async ({ cockpit, page }, info) => {
  // On a phone the sheet of a question covers Stop.
  if (info.project.name === "phone") {
    await cockpit.send("count to 5000");
    await cockpit.copilot().reaches(5);
  } else {
    await cockpit.send("run `echo first`");
    await expect(cockpit.cards).toContainText("echo first");
  }
  await cockpit.send("run `echo second`");
  await cockpit.send("say third");
  await expect(page.locator(".queue-item")).toHaveCount(2);
  const place = await cockpit.stop.boundingBox();
  await cockpit.stop.click();

  const bar = page.locator(".queue-held");
  await expect(bar).toContainText("Stopped. 2 queued messages are waiting.");
  await expect(cockpit.cards).toHaveCount(0);
  await expect(cockpit.stop).toBeHidden();
  const below = await bar.boundingBox();
  if (!place || !below) throw new Error("both are on the screen");
  expect(below.y + below.height, "the bar covers the place where Stop was").toBeLessThanOrEqual(place.y);
  await expectAccessible(page);

  // Nothing was sent, and a page that is loaded again says the same.
  await page.reload();
  await expect(bar).toContainText("Stopped. 2 queued messages are waiting.");
  await expect(cockpit.mine).toHaveCount(1);

  await bar.getByRole("button", { name: "Send next" }).click();
  await expect(cockpit.cards).toContainText("echo second");
  await expect(bar).toHaveCount(0);
  await cockpit.cards.getByRole("button", { name: "Allow" }).click();
  await expect(cockpit.mine).toHaveCount(3);
  await cockpit.expectIdle();
});
