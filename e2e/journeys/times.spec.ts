// Times are those of the work, and what is said of an end is the same in the list and in the conversation.

import type { Page } from "@playwright/test";
import type { Cockpit } from "../harness/cockpit";
import { expect, test } from "../harness/test";

/** How long somebody thinks about it. */
const think_ms = 6_000;

/** The seconds that stand in a text: "Ran sleep 1 2 s", "2 s · 14:30". */
function secondsIn(text: string): number[] {
  return [...text.matchAll(/(\d+) s\b/g)].map(([, seconds]) => Number(seconds));
}

/** Every time that is shown of the turn, live and after a reload. */
async function expectWorkOnly(cockpit: Cockpit, page: Page): Promise<void> {
  for (const visit of ["live", "reloaded"]) {
    const foot = cockpit.log.locator(".turn-foot").last();
    await expect(foot, visit).toContainText(/\d s · \d\d:\d\d/);
    await cockpit.log.locator(".lead").last().click();
    const text = await cockpit.log.evaluate((log) => (log as HTMLElement).innerText);
    const seconds = secondsIn(text);
    expect(seconds.length, text).toBeGreaterThan(0);
    expect(Math.max(...seconds), `${visit}: ${text}`).toBeLessThan(think_ms / 1_000 - 1);
    if (visit === "live") await page.reload();
  }
}

test.describe("it asks", () => {
  test.use({ setup: { policy: "ask" } });

  test("what somebody was waited for does not count as time of the work", async ({ cockpit, page }) => {
    await cockpit.send("run `sleep 1`");
    await expect(cockpit.cards).toBeVisible();
    await page.waitForTimeout(think_ms);
    await cockpit.cards.getByRole("button", { name: "Allow", exact: true }).click();
    await cockpit.copilot().expectEnded("done");
    await cockpit.expectIdle();
    await expectWorkOnly(cockpit, page);
  });
});

interface End {
  agent: "demo" | "faulty";
  asks: string;
  word: string;
  dot: string;
}

const endings: End[] = [
  { agent: "demo", asks: "count to 5000", word: "stopped", dot: "seen" },
  { agent: "faulty", asks: "crash_mid_line", word: "crashed", dot: "failed" },
  { agent: "faulty", asks: "stop_reason max_tokens", word: "out of tokens", dot: "interrupted" },
];

/** The dot of the session in the list, also after a reload, and the first one of the conversation. */
async function expectSameDot(cockpit: Cockpit, page: Page, dot: string): Promise<void> {
  await cockpit.openSessions();
  for (const visit of ["live", "reloaded"]) {
    await expect(cockpit.rows.first().locator(".dot"), `list, ${visit}`).toHaveClass(`dot ${dot}`);
    if (visit === "live") await page.reload();
  }
  await cockpit.openSession();
  // What ended without a fault has no sign.
  const signs = cockpit.log.locator(".dot");
  if (dot === "seen") await expect(signs, "conversation").toHaveCount(0);
  else await expect(signs.first(), "conversation").toHaveClass(`dot ${dot}`);
}

for (const { agent, asks, word, dot } of endings) {
  test.describe(word, () => {
    test.use({ setup: { agent } });

    test(`the list and the conversation agree that a turn ended: ${word}`, async ({ cockpit, page }) => {
      await cockpit.send(asks);
      if (word === "stopped") {
        await cockpit.copilot().reaches(20);
        await cockpit.stop.click();
      }
      await cockpit.copilot().expectEnded(word);
      await cockpit.expectIdle();
      await expectSameDot(cockpit, page, dot);
      await cockpit.copilot().expectEnded(word);
    });
  });
}
