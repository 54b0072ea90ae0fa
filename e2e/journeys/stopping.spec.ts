// Stopping is seen at once, however slow the way to the server is, and everything that was open is closed.

import type { Page } from "@playwright/test";
import { expect, test } from "../harness/test";

/** A tenth of a second on a screen of 60 Hz; counted in frames, so that a busy machine tells no lies. */
const soon_frames = 6;

/** Holds every request of this kind back until it is let go. */
async function holdBack(page: Page, path: string): Promise<() => void> {
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route(path, async (route) => {
    await gate;
    await route.continue();
  });
  return letGo;
}

/** Clicks, and answers after how many frames the page looked as it should. */
async function reactsIn(page: Page, button: string, sign: string): Promise<number> {
  return await page.evaluate(
    async ([button, sign]) => {
      const target = document.querySelector<HTMLElement>(button as string);
      if (!target) throw new Error(`there is no ${button}`);
      target.click();
      let frames = 0;
      while (!document.querySelector(sign as string)) {
        await new Promise(requestAnimationFrame);
        frames += 1;
      }
      return frames;
    },
    [button, sign],
  );
}

test("a stop of the turn is seen at once @desktop", async ({ cockpit, page }) => {
  await cockpit.send("count to 5000");
  await cockpit.copilot().expectRunning();
  await cockpit.copilot().reaches(10);
  const letGo = await holdBack(page, "**/cancel");
  expect(await reactsIn(page, ".round-button.stop", ".round-button.stop[aria-label=Stopping]")).toBeLessThan(
    soon_frames,
  );
  await expect(cockpit.copilot().title).toContainText("stopping");
  letGo();
  await cockpit.copilot().expectEnded("stopped");
  await cockpit.expectIdle();
});

test("a stop of one agent is seen at once @desktop", async ({ cockpit, page }) => {
  await cockpit.send("count to 5000");
  await cockpit.copilot().reaches(10);
  const letGo = await holdBack(page, "**/cancel");
  const foot = ".agent-stop";
  expect(await reactsIn(page, foot, `${foot}[disabled]`)).toBeLessThan(soon_frames);
  letGo();
  await cockpit.copilot().expectEnded("stopped");
  await cockpit.expectIdle();
});

test("a queued message is withdrawn at once @desktop", async ({ cockpit, page }) => {
  await cockpit.send("count to 5000");
  await cockpit.copilot().reaches(10);
  await cockpit.send("say never");
  const withdraw = ".queue-item [aria-label='Remove queued message']";
  await expect(page.locator(withdraw)).toBeVisible();
  const letGo = await holdBack(page, "**/queue/*");
  expect(await reactsIn(page, withdraw, ".queue-item.withdrawn")).toBeLessThan(soon_frames);
  letGo();
  await expect(page.locator(".queue-item")).toHaveCount(0);
  await cockpit.stop.click();
  await cockpit.expectIdle();
  await expect(cockpit.mine).toHaveCount(1);
});
