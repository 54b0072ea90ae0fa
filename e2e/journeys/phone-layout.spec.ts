// What a hand and a screen of a phone need: room to write, buttons a thumb hits, nothing under a notch or a keyboard.

import type { Page } from "@playwright/test";
import type { Cockpit } from "../harness/cockpit";
import { expect, test } from "../harness/test";

test.use({ setup: { policy: "ask", files: { "a.txt": "one\n" }, changes: { "a.txt": "two\n" } } });

const thumb_px = 44;
const notch = { top: 47, bottom: 34 };

/** How much of the screen's width is free to write in: what lies over the field is not. */
function writable(cockpit: Cockpit): Promise<number> {
  return cockpit.composer.evaluate((field) => {
    const box = field.getBoundingClientRect();
    const line = box.top + Math.min(22, box.height / 2);
    let free = 0;
    for (let x = 0; x < window.innerWidth; x += 1) if (document.elementFromPoint(x, line) === field) free += 1;
    return free / window.innerWidth;
  });
}

test("the text field has most of the width, at home, in a session, and while a turn runs @phone", async ({
  cockpit,
  page,
}) => {
  for (const width of [390, 360]) {
    await page.setViewportSize({ width, height: 740 });
    expect(await writable(cockpit), `at home, ${width}`).toBeGreaterThanOrEqual(0.6);
    await cockpit.composer.focus();
    expect(await writable(cockpit), `at home, writing, ${width}`).toBeGreaterThanOrEqual(0.6);
  }
  await cockpit.send("count to 60");
  await cockpit.copilot().expectRunning();
  expect(await writable(cockpit), "while a turn runs").toBeGreaterThanOrEqual(0.6);
  await cockpit.copilot().expectEnded("done");
  await cockpit.expectIdle();
  expect(await writable(cockpit), "in a session").toBeGreaterThanOrEqual(0.6);
});

/** A keyboard that lies over the page, as it does on Apple's phones: what is seen shrinks, the page does not. */
async function openKeyboard(page: Page, height: number): Promise<void> {
  await page.evaluate((height) => {
    const view = window.visualViewport as VisualViewport;
    Object.defineProperty(view, "height", { configurable: true, get: () => window.innerHeight - height });
    view.dispatchEvent(new Event("resize"));
  }, height);
}

test("with the keyboard open what is asked stands where its answers do @phone", async ({ cockpit, page }) => {
  await cockpit.send("run `echo one two three`");
  await expect(cockpit.cards).toBeVisible();
  const visible = page.viewportSize() as { width: number; height: number };
  const keyboard = 400;
  await openKeyboard(page, keyboard);
  const command = cockpit.cards.locator("code.command");
  const bottoms = async () => {
    const boxes = [command, cockpit.cards.getByRole("button", { name: "Allow", exact: true })].map((one) =>
      one.boundingBox(),
    );
    return (await Promise.all(boxes)).map((box) => [box?.y ?? -1, (box?.y ?? 0) + (box?.height ?? 0)] as const);
  };
  await expect
    .poll(async () => (await bottoms()).every(([top, bottom]) => top >= 0 && bottom <= visible.height - keyboard))
    .toBe(true);
  await cockpit.cards.getByRole("button", { name: "Deny with a reason" }).click();
  const reason = cockpit.cards.getByRole("textbox", { name: "Reason" });
  await expect(reason).toBeFocused();
  const written = await reason.boundingBox();
  expect((written?.y ?? 0) + (written?.height ?? 0)).toBeLessThanOrEqual(visible.height - keyboard);
  expect((await command.boundingBox())?.y).toBeGreaterThanOrEqual(0);
  await openKeyboard(page, 0);
  await cockpit.cards.getByRole("button", { name: "Cancel" }).click();
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();
});

/** What can be pressed and is not wholly between the notch and the bar at the bottom. */
function outside(page: Page): Promise<string[]> {
  return page.evaluate(({ top, bottom }) => {
    const within = window.innerHeight - bottom;
    const found = [...document.querySelectorAll<HTMLElement>("button, a[href], textarea, input, h1, summary")];
    return found
      .filter((element) => {
        const box = element.getBoundingClientRect();
        const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
        // What scrolls goes under the bars and comes out again.
        const scrolls =
          element.closest(".log, .session-list, .page, .review-main, .shelf, .home, .menu, .skip") !== null;
        const at = document.elementFromPoint(x, y);
        if (box.width < 2 || scrolls || !at || !(element.contains(at) || at.contains(element))) return false;
        return box.top < top - 1 || box.bottom > within + 1;
      })
      .map((element) => `${element.tagName} ${element.ariaLabel ?? element.textContent}`);
  }, notch);
}

test("nothing to press lies under the notch or the bar at the bottom @phone", async ({
  cockpit,
  context,
  page,
  server,
}) => {
  const content = await page.locator("meta[name=viewport]").getAttribute("content");
  expect(content).toContain("viewport-fit=cover");
  const cdp = await context.newCDPSession(page);
  const insets = { ...notch, topMax: notch.top, bottomMax: notch.bottom, left: 0, right: 0 };
  await cdp.send("Emulation.setSafeAreaInsetsOverride", { insets });
  await visit(cockpit, server.url, async (name) => expect.poll(() => outside(page), name).toEqual([]));
});

/** What can be pressed and is smaller than a thumb, with the room around it that counts as it. */
function small(page: Page): Promise<string[]> {
  return page.evaluate((thumb) => {
    const kinds =
      "button, a[href], summary, input, select, textarea, [role=switch], [role=menuitem], [role=menuitemradio]";
    const found: string[] = [];
    for (const element of document.querySelectorAll<HTMLElement>(kinds)) {
      const box = element.getBoundingClientRect();
      const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
      const hits = (dx: number, dy: number) => {
        const at = document.elementFromPoint(x + dx, y + dy);
        return (
          at !== null && (at === element || element.contains(at) || at.closest("label")?.contains(element) === true)
        );
      };
      // A link in a sentence is as high as the sentence.
      if (box.width < 2 || !hits(0, 0) || element.matches("p a, .markdown a")) continue;
      const reach = thumb / 2 - 1;
      const wide = box.width >= thumb || (hits(-reach, 0) && hits(reach, 0));
      const high = box.height >= thumb || (hits(0, -reach) && hits(0, reach));
      if (!wide || !high)
        found.push(
          `${element.ariaLabel ?? element.textContent?.trim().slice(0, 40)} ${Math.round(box.width)}×${Math.round(box.height)} .${element.className}`,
        );
    }
    return found;
  }, thumb_px);
}

test("a thumb hits whatever can be pressed @phone", async ({ cockpit, page, server }) => {
  await visit(cockpit, server.url, async (name) => expect.poll(() => small(page), name).toEqual([]));
});

/** Goes through the screens of a phone. */
async function visit(cockpit: Cockpit, url: string, look: (name: string) => Promise<void>): Promise<void> {
  const { page } = cockpit;
  await page.emulateMedia({ reducedMotion: "reduce" });
  await cockpit.expectHome();
  await look("home");
  await cockpit.send("run `echo hello`");
  await expect(cockpit.cards).toBeVisible();
  await look("permission");
  await cockpit.cards.getByRole("button", { name: "Allow", exact: true }).tap();
  await cockpit.copilot().expectEnded("done");
  await cockpit.expectIdle();
  await look("session");
  await cockpit.openPill("Model");
  await look("menu");
  await page.keyboard.press("Escape");
  await cockpit.openSessions();
  await look("sessions");
  const [row] = await cockpit.rows.all();
  await row?.getByRole("button", { name: /^More for/ }).tap();
  await look("menu of a session");
  await page.keyboard.press("Escape");
  for (const place of ["agents", "settings", "conversations"]) {
    await page.goto(`${url}/#/${place}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.locator("main .spinner, main [aria-busy=true]")).toHaveCount(0);
    await look(place);
  }
}
