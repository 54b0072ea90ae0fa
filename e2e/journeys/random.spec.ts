// Clicks, taps, keys and typing at random, on every screen with a question that waits: nothing is granted or denied that was not
// clicked deliberately. RANDOM_SEED repeats a run, RANDOM_ACTIONS makes it longer; each repetition has the next seed.

import type { Page } from "@playwright/test";
import type { Server } from "../harness/server";
import { expect, test } from "../harness/test";

const first_seed = Number(process.env.RANDOM_SEED ?? 1);
const actions = Number(process.env.RANDOM_ACTIONS ?? 300);

/** A generator of its own: the same seed makes the same numbers on every machine. */
function createRandom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What answers once it takes presses, ends the question another way, or changes who is asked. The rest of the page is the test. */
const deliberate = {
  /** Answers, and what leads away from the page. A button that does not take presses yet is pressed. */
  parts: [
    ".ask-allow, .ask-deny, .deny-reason button, .always-grant",
    ".round-button.stop, .agent-stop, .queue button, [role=menuitemradio], input[type=file], select",
    "a[href^='http'], a[download], [aria-label='Attach files'], [aria-label='Take a photo'], [aria-label='Stop']",
  ].join(", "),
  /** By what is written on it. */
  words:
    "^(Allow|Deny|Always|Decline|Stop|Send|Install|Update|Test|Sign|Log|Revoke|Delete|Remove|Archive|Commit|Revert|Undo|Reset|Auto|Ask|Start|Resume|Continue|Turn|Export|Trust|Mute)",
};

const letters = [..."adAD123jknpvc?/ ", "Enter", "Tab", "Shift+Tab", "ArrowDown", "ArrowUp", "Backspace", "Escape"];

/** Whether a press on it is an answer, or leads away. What does not take presses yet is no answer. */
type IsMeant = (target: Element) => boolean;

/**
 * Tells presses that are meant in the page itself, and takes back those on what began to take presses only after this test had looked:
 * the hand would not have pressed it.
 */
function keepHandOff({ parts, words }: typeof deliberate): void {
  const isMeant: IsMeant = (target) => {
    const roles = ["option", "menuitem", "menuitemradio", "radio", "switch"].map((role) => `[role=${role}]`);
    const control = target.closest<HTMLElement>(["button", "a", "summary", "label", ...roles].join(", "));
    if (!control) return target.closest(parts) !== null;
    // "Always…" only opens a dialog.
    if (control.matches(".ask-always, :disabled, [aria-disabled=true]")) return false;
    const name = (control.ariaLabel ?? control.textContent ?? "").trim();
    return control.closest(parts) !== null || new RegExp(words).test(name);
  };
  let isOff = false;
  for (const type of ["pointerdown", "mousedown", "mouseup", "click"] as const) {
    window.addEventListener(
      type,
      (event) => {
        if (event.type === "pointerdown") isOff = event.target instanceof Element && isMeant(event.target);
        if (!isOff || (event instanceof MouseEvent && event.type === "click" && event.detail === 0)) return;
        event.preventDefault();
        event.stopImmediatePropagation();
      },
      { capture: true },
    );
  }
  Object.assign(window, { isMeant });
}

/** Whether a press there, or a key where the focus is, would be meant. */
function isDeliberate(page: Page, at: { x: number; y: number } | null, key = ""): Promise<boolean> {
  return page.evaluate(
    ({ at, key }) => {
      const { isMeant } = window as unknown as { isMeant: IsMeant };
      const target = at ? document.elementFromPoint(at.x, at.y) : document.activeElement;
      if (!target) return false;
      if (at) return isMeant(target);
      // The card that somebody went into has keys, and so has a field whose text Enter sends.
      if (key.toLowerCase() === "d" && document.querySelector(".ask.engaged")) return true;
      if (key === "Enter" && target.matches("article.ask, .asked, textarea, input")) return true;
      const isPress = key === "Enter" || key === " " || key.startsWith("Arrow");
      // A button that settles may have settled when the key arrives.
      return (
        isPress && (isMeant(target) || target.closest("[aria-disabled=true], :disabled, select, [type=radio]") !== null)
      );
    },
    { at, key },
  );
}

/** One thing that a hand does by chance, if it is not an answer that was meant. */
async function act(page: Page, random: () => number): Promise<string> {
  const size = page.viewportSize() ?? { width: 0, height: 0 };
  const isPhone = size.width < 700;
  if (random() < 0.6) {
    // Half of them where the questions are.
    const low = random() < 0.5 ? 0.6 : 0;
    const at = {
      x: Math.floor(random() * size.width),
      y: Math.floor((low + random() * (1 - low)) * size.height),
    };
    const count = random() < 0.4 ? 2 : 1;
    for (let press = 0; press < count; press += 1) {
      if (await isDeliberate(page, at)) return `spared ${at.x},${at.y}`;
      if (isPhone) await page.touchscreen.tap(at.x, at.y);
      else await page.mouse.click(at.x, at.y);
    }
    return `pressed ${at.x},${at.y} ×${count}`;
  }
  const key = letters[Math.floor(random() * letters.length)] ?? "d";
  if (await isDeliberate(page, null, key)) {
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    return `spared ${key}`;
  }
  await page.keyboard.press(key);
  return key;
}

async function stateOf(server: Server, id: string): Promise<{ waiting: number; rules: number; policy: unknown }> {
  const { waiting, rules, permission_policy } = await (await server.call("GET", `/api/sessions/${id}`)).json();
  return { waiting, rules, policy: permission_policy };
}

test.use({ setup: { policy: "ask", files: { "a.txt": "one\n" }, changes: { "a.txt": "two\n" } } });

test("random presses, keys and words answer nothing", async ({ cockpit, page, server }, info) => {
  const seed = first_seed + info.repeatEachIndex;
  await page.addInitScript(keepHandOff, deliberate);
  await page.reload();
  const random = createRandom(seed);
  await cockpit.send("run `echo waits > never.txt`");
  await expect(cockpit.cards.getByRole("button", { name: "Allow" })).toBeEnabled();
  const id = /sessions\/([0-9a-f-]+)/.exec(page.url())?.[1] ?? "";
  const before = await stateOf(server, id);
  expect(before.waiting).toBe(1);
  const home = `${server.url}/#/sessions/${id}`;
  const screens = [
    home,
    `${home}/review`,
    `${server.url}/#/settings`,
    `${server.url}/#/agents`,
    `${server.url}/#/conversations`,
    `${server.url}/#/devices`,
    `${server.url}/#/`,
  ];
  const log: string[] = [];
  for (let count = 0; count < actions; count += 1) {
    if (count % 50 === 0) {
      // Half of all time on the question itself.
      const screen = count % 100 === 0 ? home : (screens[Math.floor(random() * screens.length)] ?? home);
      await page.goto(screen);
      const isPalette = random() < 0.2;
      if (isPalette) await page.keyboard.press("Control+k");
      else if (random() < 0.2) await page.keyboard.press("Control+Shift+D");
    }
    const step = await act(page, random);
    // Two in a row are a wish to stop, which ends the question.
    if (step === "Escape") await page.waitForTimeout(750);
    log.push(step);
    if (count % 25 === 24) {
      const now = await stateOf(server, id);
      expect(now, `seed ${seed}, after ${count + 1} actions: ${log.slice(-30).join("; ")}`).toEqual(before);
    }
  }
  await page.goto(home);
  await expect(cockpit.cards).toHaveCount(1);
  expect(await stateOf(server, id)).toEqual(before);
  await server.call("POST", `/api/sessions/${id}/cancel`);
  await cockpit.expectIdle();
});
