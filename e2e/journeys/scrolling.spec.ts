import type { Locator } from "@playwright/test";
import { expect, test } from "../harness/test";

/** Much taller as it is written than as it is shown. */
const links = Array.from(
  { length: 200 },
  (_, index) => `Line ${index + 1}: [a link](https://example.com/${"x".repeat(600)})\n\n`,
);
const lines = Array.from({ length: 2000 }, (_, index) => `Line ${index + 1}\n\n`);
test.use({
  setup: {
    script: [
      {
        when: { last_user_contains: "agent", has_tool_result: true },
        reply: { text: "done" },
      },
      {
        when: { last_user_contains: "agent" },
        reply: {
          tool_calls: [{ name: "copilot_agent", arguments: { prompt: "write 2000 words", session_name: "main" } }],
        },
      },
      { when: { last_user_contains: "links" }, reply: { chunks: links, chunk_delay_ms: 20 } },
      { reply: { chunks: lines, chunk_delay_ms: 30 } },
    ],
  },
});

const fromEnd = (box: Locator) => box.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
const height = (box: Locator) => box.evaluate((box) => box.scrollHeight);
const top = (box: Locator) => box.evaluate((box) => box.scrollTop);

async function expectLetsGoAndComesBack(box: Locator, back: () => Promise<void>): Promise<void> {
  await expect
    .poll(async () => (await height(box)) - (await box.evaluate((box) => box.clientHeight)))
    .toBeGreaterThan(250);
  await expect.poll(() => fromEnd(box)).toBeLessThan(8);

  await box.hover();
  await box.page().mouse.wheel(0, -200);
  await expect.poll(() => fromEnd(box)).toBeGreaterThan(100);
  const [readAt, tall] = [await top(box), await height(box)];
  await expect.poll(() => height(box)).toBeGreaterThan(tall + 40);
  expect(await top(box), "the reader's place").toBe(readAt);

  await back();
  await expect.poll(() => fromEnd(box)).toBeLessThan(8);
  const stuck = await height(box);
  await expect.poll(() => height(box)).toBeGreaterThan(stuck + 20);
  await expect.poll(() => fromEnd(box)).toBeLessThan(8);
}

test("the conversation follows the text until the reader scrolls up, and again from the end", async ({
  cockpit,
  page,
}) => {
  await cockpit.send("recite");
  const latest = page.getByRole("button", { name: "New", exact: true });
  await expectLetsGoAndComesBack(cockpit.log, async () => {
    await expect(latest).toBeVisible();
    await latest.click();
  });
  await expect(latest).toBeHidden();
  await cockpit.stop.click();
  await cockpit.expectIdle();
});

// Holds S1-75, S1-79.
test("an agent's block does the same", async ({ cockpit, page }) => {
  await cockpit.send("let the agent recite");
  const { stream } = cockpit.copilot();
  const style = await stream.evaluate((box) => {
    const { fontFamily, maxHeight, overflowY } = getComputedStyle(box);
    return { fontFamily, isBounded: maxHeight !== "none", overflowY };
  });
  expect(style).toEqual({ fontFamily: expect.stringMatching(/mono/i), isBounded: true, overflowY: "auto" });
  await expectLetsGoAndComesBack(stream, async () => {
    await stream.hover();
    await page.mouse.wheel(0, 4000);
  });
  await cockpit.stop.click();
  await cockpit.expectIdle();
});

test("text that gets shorter as it is rendered does not count as the reader's scrolling @desktop", async ({
  cockpit,
  page,
}) => {
  await cockpit.send("recite links");
  await expect(cockpit.answers).toContainText("Line 200", { timeout: 30_000 });
  await cockpit.expectIdle();
  await expect(page.getByRole("button", { name: "New", exact: true })).toBeHidden();
  await expect.poll(() => fromEnd(cockpit.log)).toBeLessThan(8);
});
