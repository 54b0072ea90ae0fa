// A hand that presses and types by chance, and spares what would be meant: an answer that could be seen where it is for half a second.

import type { CDPSession, Page } from "@playwright/test";

/** A generator of its own: the same seed makes the same numbers on every machine. */
export function createRandom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What the page has seen of the hand. */
export interface Seen {
  /** Presses on an answer that did not take any yet, or had just come there. */
  early: number;
  /** Presses and keys that would have been meant, and were taken back. */
  spared: number;
  /** The last presses and keys, and how they were judged: shown when the journey fails. */
  judged: string[];
}

const parts = {
  answers: ".ask-foot .button:not(.ask-always, .ask-reason), .always-grant",
  /** What ends the question another way, changes who is asked or leads away from the page. */
  others: [
    ".round-button.stop, .agent-stop, .queue button, [role=menuitemradio], input[type=file], select",
    "a[href^='http'], a[download], [aria-label='Attach files'], [aria-label='Take a photo'], [aria-label='Stop']",
  ].join(", "),
  /** The same, by what is written on it. */
  words:
    "^(Allow|Deny|Stop|Send|Install|Update|Test|Sign|Revoke|Delete|Remove|Archive|Commit|Revert|Undo|Reset|Auto|Ask|Start|Resume|Continue|Turn|Export|Trust|Mute)",
};

/**
 * Judges each press and each key inside of the page, without any of its code: where each answer was in the last half second, and
 * whether it takes presses. What is meant is taken back before the page hears of it; everything else goes on to what it falls on.
 */
function watchAnswers({ answers, others, words }: typeof parts): void {
  /** Half a second, less what the clock of a timer may be early. */
  const long_ms = 498;
  const kept_ms = 5_000;
  const most_judged = 40;
  const controls = "button, a, summary, label, [role=option], [role=menuitem], [role=radio], [role=switch]";
  const counts: Seen = { early: 0, spared: 0, judged: [] };
  const seen = new Map<Element, { at: number; place: DOMRect }[]>();
  const look = (at: number) => {
    const all = [...document.querySelectorAll(answers)];
    for (const gone of seen.keys()) if (!all.includes(gone)) seen.delete(gone);
    for (const answer of all) {
      const places = seen.get(answer) ?? [];
      while (places[1] && places[1].at < at - kept_ms) places.shift();
      places.push({ at, place: answer.getBoundingClientRect() });
      seen.set(answer, places);
    }
  };
  const onFrame = () => {
    look(performance.now());
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);

  const isOff = (control: Element) => control.matches(":disabled, [aria-disabled=true]");
  const isIn = ({ left, right, top, bottom }: DOMRect, x: number, y: number) =>
    x >= left && x < right && y >= top && y < bottom;
  const wasThere = (answer: Element, x: number, y: number, at: number) => {
    const places = seen.get(answer) ?? [];
    const first = places.findLastIndex((one) => one.at <= at - long_ms);
    return first >= 0 && places.slice(first).every(({ place }) => isIn(place, x, y));
  };
  const isOther = (target: Element) => {
    const control = target.closest<HTMLElement>(controls);
    if (!control) return target.closest(others) !== null;
    if (isOff(control)) return false;
    return control.closest(others) !== null || new RegExp(words).test(control.ariaLabel ?? control.textContent.trim());
  };
  const isMeantOn = (target: Element | null, x: number, y: number, at: number) => {
    const answer = target?.closest(answers);
    if (answer) return !isOff(answer) && wasThere(answer, x, y, at);
    return target !== null && isOther(target);
  };

  let lastHand = Number.NEGATIVE_INFINITY;
  let focusedAt = Number.NEGATIVE_INFINITY;
  /** A hand moved the focus there, or it has been there long enough to be seen. */
  const isFocusMeant = (at: number) => focusedAt <= lastHand + 100 || focusedAt <= at - long_ms;
  const isMeantKey = (key: string, at: number) => {
    const target = document.activeElement;
    if (!target) return false;
    // The card that somebody went into has keys.
    if ("dDEnter".includes(key) && document.querySelector(".ask.engaged")) return true;
    if (key !== "Enter" && key !== " " && !key.startsWith("Arrow")) return false;
    // A field whose text Enter sends, and one whose value the arrows change.
    if (target.closest(".ask-foot input, .ask form")) return key !== " " && isFocusMeant(at);
    if (key === "Enter" && target.matches("textarea, input")) return true;
    const { left, right, top, bottom } = target.getBoundingClientRect();
    const answer = target.closest(answers);
    if (!answer) return isOther(target) || target.matches("select, [type=radio]");
    return !isOff(answer) && isFocusMeant(at) && wasThere(answer, (left + right) / 2, (top + bottom) / 2, at);
  };

  /** When, how late the page heard of it, what, on what, and where the answer was so long before. */
  const note = (event: MouseEvent | KeyboardEvent, isMeant: boolean) => {
    const target = event.target instanceof Element ? event.target : document.body;
    const answer = target.closest(answers);
    const places = (answer ? seen.get(answer) : undefined) ?? [];
    const late = Math.round(performance.now() - event.timeStamp);
    const what = event instanceof MouseEvent ? `${event.type} ${event.clientX},${event.clientY}` : `key ${event.key}`;
    const name = `${target.tagName} ${(target.ariaLabel ?? target.textContent).trim().slice(0, 20)}`;
    const way = places
      .slice(-6)
      .map(
        ({ at, place }) =>
          `${Math.round(event.timeStamp - at)} ms: ${Math.round(place.top)}-${Math.round(place.bottom)}`,
      );
    const verdict = isMeant ? "meant" : answer && isOff(answer) ? "off" : "";
    counts.judged.push(`${Math.round(event.timeStamp)}+${late} ${what} on ${name} ${verdict} ${way.join(", ")}`.trim());
    if (counts.judged.length > most_judged) counts.judged.shift();
  };

  let isSpared = false;
  const takeBack = (event: Event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const onPress = (event: MouseEvent) => {
    if (event.type === "pointerdown") {
      look(performance.now());
      const target = event.target instanceof Element ? event.target : null;
      isSpared = isMeantOn(target, event.clientX, event.clientY, event.timeStamp);
      if (isSpared) counts.spared += 1;
      else if (target?.closest(answers)) counts.early += 1;
    }
    if (event.type === "pointerdown" || event.type === "click") note(event, isSpared);
    if (event.type === "pointerdown" && !isSpared) lastHand = performance.now();
    // The click of a tap comes late: what the tap before it has closed may be gone by then, and Stop lies there.
    if (event.type === "click" && event.detail > 0 && !isSpared && event.target instanceof Element) {
      if (!event.target.closest(answers) && isOther(event.target)) takeBack(event);
    }
    if (isSpared && (event.type !== "click" || event.detail > 0)) takeBack(event);
  };
  for (const type of ["pointerdown", "mousedown", "mouseup", "click"] as const)
    window.addEventListener(type, onPress, { capture: true });
  window.addEventListener("focusin", () => {
    focusedAt = performance.now();
  });
  window.addEventListener(
    "keydown",
    (event) => {
      const isMeant = isMeantKey(event.key, event.timeStamp);
      note(event, isMeant);
      if (isMeant) {
        counts.spared += 1;
        takeBack(event);
      } else if (event.key === "Tab") lastHand = performance.now();
    },
    { capture: true },
  );
  Object.assign(window, { hand: counts });
}

/** Before the page is loaded. */
export async function preparePage(page: Page): Promise<void> {
  await page.addInitScript(watchAnswers, parts);
}

const keys = [
  ..."adAD123jknpvc?/ ",
  "Enter",
  "Enter",
  "Tab",
  "Shift+Tab",
  "ArrowDown",
  "ArrowUp",
  "Backspace",
  "Escape",
];
/** Two presses of Escape within less than this are a wish to stop, which ends the question. */
const escape_ms = 750;
/** So many things are done in a row at most, without a look at the page. */
const most = 6;

interface Point {
  x: number;
  y: number;
}

export class Hand {
  /** How many presses and keys there were. */
  done = 0;
  private lastEscape = Number.NEGATIVE_INFINITY;
  private typing: Promise<void> = Promise.resolve();

  private constructor(
    private readonly page: Page,
    private readonly input: CDPSession,
    private readonly random: () => number,
  ) {}

  static async of(page: Page, random: () => number): Promise<Hand> {
    return new Hand(page, await page.context().newCDPSession(page), random);
  }

  /** Some things that a hand does by chance, as fast as it can. */
  async act(): Promise<void> {
    const targets = await this.page.evaluate(targetsOf);
    const count = 1 + Math.floor(this.random() * most);
    const doing: Promise<void>[] = [];
    for (let step = 0; step < count; step += 1) doing.push(this.random() < 0.7 ? this.press(targets) : this.type());
    await Promise.all(doing);
  }

  async seen(): Promise<Seen> {
    return await this.page.evaluate(() => (window as unknown as { hand: Seen }).hand);
  }

  /** Once, or twice at the same place. */
  private async press(targets: Point[]): Promise<void> {
    const at = this.place(targets);
    const count = this.random() < 0.4 ? 2 : 1;
    const pressing: Promise<unknown>[] = [];
    for (let press = 0; press < count; press += 1) {
      pressing.push(...(this.isPhone ? this.tap(at) : this.click(at)));
      this.done += 1;
    }
    await Promise.all(pressing);
  }

  private tap({ x, y }: Point): Promise<unknown>[] {
    const send = (type: "touchStart" | "touchEnd", touchPoints: Point[]) =>
      this.input.send("Input.dispatchTouchEvent", { type, touchPoints });
    return [send("touchStart", [{ x, y }]), send("touchEnd", [])];
  }

  private click(at: Point): Promise<unknown>[] {
    const send = (type: "mouseMoved" | "mousePressed" | "mouseReleased") =>
      this.input.send("Input.dispatchMouseEvent", {
        type,
        ...at,
        ...(type === "mouseMoved" ? {} : { button: "left", clickCount: 1 }),
      });
    return [send("mouseMoved"), send("mousePressed"), send("mouseReleased")];
  }

  /** Anywhere, where questions are, or right on something of a question. */
  private place(targets: Point[]): Point {
    const { width, height } = this.page.viewportSize() ?? { width: 0, height: 0 };
    const [where, across, down] = [this.random(), this.random(), this.random()];
    const target = targets[Math.floor(across * targets.length)];
    if (target && where < 0.3) return target;
    const low = where < 0.65 ? 0.6 : 0;
    return { x: Math.floor(across * width), y: Math.floor((low + down * (1 - low)) * height) };
  }

  private type(): Promise<void> {
    const key = keys[Math.floor(this.random() * keys.length)] ?? "d";
    const isHeld = this.random() < 0.1;
    if (key === "Escape") {
      if (performance.now() - this.lastEscape < escape_ms) return this.typing;
      this.lastEscape = Number.POSITIVE_INFINITY;
    }
    this.done += 1;
    this.typing = this.typing.then(async () => {
      // A key that is held repeats.
      if (isHeld && key !== "Shift+Tab" && key !== "Escape") await this.page.keyboard.down(key);
      await this.page.keyboard.press(key);
      if (key === "Escape") this.lastEscape = performance.now();
    });
    return this.typing;
  }

  private get isPhone(): boolean {
    return (this.page.viewportSize()?.width ?? 0) < 700;
  }
}

/** The middles of what a question has that can be pressed. */
function targetsOf(): Point[] {
  return [...document.querySelectorAll(".ask button, .ask-bar button, .always button, .always label")]
    .map((button) => button.getBoundingClientRect())
    .map(({ left, top, width, height }) => ({
      x: Math.floor(left + width / 2),
      y: Math.floor(top + height / 2),
      width,
    }))
    .filter(({ x, y, width }) => width > 0 && x >= 0 && y >= 0 && x < innerWidth && y < innerHeight);
}
