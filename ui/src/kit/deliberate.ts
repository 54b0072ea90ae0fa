// Whether a press or a key was meant for what it falls on. What comes, goes or moves under a pointer is not pressed by it.

import { createEffect, createSignal, on, onCleanup } from "solid-js";

/** What has just been drawn or uncovered takes no press and no key for so long. */
export const settle_ms = 500;
/** Nothing that can be pressed opens this close to the pointer or the last tap. */
export const near_px = 24;
/** So long after somebody has written they are still writing. */
const writing_ms = 5_000;
/** The focus moves within so long after the Tab key went down. */
const tab_ms = 100;
/** So often it is looked whether something has moved. */
const look_ms = 100;

const fields = "input:not([type='radio'], [type='checkbox']), textarea, select, [contenteditable]";

interface Point {
  x: number;
  y: number;
}

interface Shield {
  places: DOMRectReadOnly[];
  isForKeys: boolean;
  from: number;
  until: number;
}

let pointer: Point | null = null;
let lastDown = Number.NEGATIVE_INFINITY;
let downPoint: Point = { x: 0, y: 0 };
/** When the last key went down that presses buttons. */
let keyDown = Number.NEGATIVE_INFINITY;
/** The same, while it presses one. */
let pressingSince: number | null = null;
let lastTab = Number.NEGATIVE_INFINITY;
let lastFocus = Number.NEGATIVE_INFINITY;
let lastInput = Number.NEGATIVE_INFINITY;
let lastWritten = Number.NEGATIVE_INFINITY;
let isPressShielded = false;
let shields: Shield[] = [];
const [uncovered, setUncovered] = createSignal(0);

const isField = (target: EventTarget | null) => target instanceof Element && target.matches(fields);
const now = () => performance.now();
/** When the hand did it. A busy page hears of it later, perhaps once everything has settled. */
const timeOf = (event: Event) => Math.min(event.timeStamp, now());

/** Where the mouse is, or where a finger was last. */
export const lastPointer = (): Point | null => pointer;

/** Whether focus that comes now was moved by the Tab key. */
export const isTabbed = () => now() - lastTab < tab_ms;

/** Whether somebody has just used a field to write in, and may go on. */
export const isWriting = () => now() - lastWritten < writing_ms;

/** Something that lay over the page is away: what it covered settles anew. */
export function uncover(): void {
  setUncovered((count) => count + 1);
}

/** A press that closed something is not followed by a second one on what was beneath. */
export function shieldPress(): void {
  const at = now();
  const { x, y } = pointer ?? { x: 0, y: 0 };
  const near = new DOMRectReadOnly(x - near_px, y - near_px, 2 * near_px, 2 * near_px);
  if (lastDown > at - settle_ms) addShield([near], false);
  uncover();
}

/** What lay on a place is away: what it covered takes no press and no letter for a moment. */
export function shield(place: DOMRectReadOnly): void {
  addShield([place], true);
  shieldPress();
}

function addShield(places: DOMRectReadOnly[], isForKeys: boolean): void {
  const from = now();
  shields = [...shields.filter(({ until }) => until > from), { places, isForKeys, from, until: from + settle_ms }];
}

export interface Settling {
  /** Whether it has been in sight, and uncovered, for long enough. */
  isSettled(): boolean;
  /** Whether it was meant: it began when this had settled, and where this has been all the time. */
  takes(event: Event): boolean;
}

/** Of what takes answers: unsettled when it comes into sight, whenever something that covered it goes, and when `element` moves. */
export function createSettling(isShown: () => boolean, element?: () => Element): Settling {
  const [isSettled, setSettled] = createSignal(false);
  const [moves, setMoves] = createSignal(0);
  const trail = element && createTrail(element);
  const look = () => trail?.look() && setMoves((count) => count + 1);
  let since = Number.POSITIVE_INFINITY;
  createEffect(
    on([isShown, uncovered, moves], ([shown]) => {
      setSettled(false);
      if (!shown) return;
      let timer: ReturnType<typeof setTimeout>;
      // Nobody has seen it before it is painted.
      const frame = requestAnimationFrame(() => {
        timer = setTimeout(() => {
          since = now();
          setSettled(true);
        }, settle_ms);
      });
      if (trail) keepLooking(look);
      onCleanup(() => {
        cancelAnimationFrame(frame);
        clearTimeout(timer);
      });
    }),
  );
  return {
    isSettled,
    takes: (event) => {
      look();
      return isSettled() && beganAt(event) >= since && (!trail || !isByPointer(event) || trail.holds(downPoint));
    },
  };
}

/** Whether something has moved is looked for as it is painted: until then it is seen where it was. */
function keepLooking(look: () => void): void {
  let frame = 0;
  let timer: ReturnType<typeof setTimeout>;
  const wait = () => {
    frame = requestAnimationFrame(() => {
      look();
      timer = setTimeout(wait, look_ms);
    });
  };
  wait();
  onCleanup(() => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  });
}

/** Where something was in the last moments. */
function createTrail(element: () => Element) {
  let last: DOMRectReadOnly | undefined;
  let left: { place: DOMRectReadOnly; until: number }[] = [];
  return {
    /** Whether it has gone from where it was. */
    look(): boolean {
      const at = now();
      const place = element().getBoundingClientRect();
      const before = last;
      last = place;
      left = left.filter(({ until }) => until > at - settle_ms);
      if (!before || isSamePlace(before, place)) return false;
      left.push({ place: before, until: at });
      return distance(middleOf(place), before) > 0;
    },
    /** Whether it has been at a point all the time. */
    holds: (point: Point) =>
      [...left.map(({ place }) => place), last].every((place) => place && distance(point, place) === 0),
  };
}

const isSamePlace = (one: DOMRectReadOnly, other: DOMRectReadOnly) =>
  (["left", "top", "right", "bottom"] as const).every((side) => one[side] === other[side]);

const middleOf = ({ left, right, top, bottom }: DOMRectReadOnly): Point => ({
  x: (left + right) / 2,
  y: (top + bottom) / 2,
});

/** A key that is held clicks again and again, also on what has got the focus only then. */
function beganAt(event: Event): number {
  if (event instanceof KeyboardEvent) return timeOf(event);
  return isByPointer(event) ? lastDown : (pressingSince ?? now());
}

/** Clicks that a key or a program makes have no count. */
const isByPointer = (event: Event) => event instanceof MouseEvent && event.detail > 0;

export function distance({ x, y }: Point, place: DOMRectReadOnly): number {
  const beside = Math.max(place.left - x, 0, x - place.right);
  const above = Math.max(place.top - y, 0, y - place.bottom);
  return Math.hypot(beside, above);
}

function isShielded(event: MouseEvent): boolean {
  const at = timeOf(event);
  const point = { x: event.clientX, y: event.clientY };
  return shields.some(({ places, until }) => until > at && places.some((place) => distance(point, place) === 0));
}

function swallow(event: Event): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function onPress(event: MouseEvent): void {
  if (event.type === "pointerdown") {
    isPressShielded = isShielded(event);
    downPoint = { x: event.clientX, y: event.clientY };
    if (!isPressShielded) {
      lastDown = timeOf(event);
      // Whoever has pressed elsewhere meanwhile does not press twice.
      shields = shields.filter(({ isForKeys }) => isForKeys);
    }
  }
  if (event.type === "click" ? isByPointer(event) && (isPressShielded || isShielded(event)) : isPressShielded)
    swallow(event);
}

function onKey(event: KeyboardEvent): void {
  const at = timeOf(event);
  if (event.key === "Tab") lastTab = now();
  if (!event.repeat && presses(event)) keyDown = at;
  notePressing(event);
  const last = shields.findLast(({ isForKeys }) => isForKeys);
  if (!last || last.until <= at || event.ctrlKey || event.metaKey || event.altKey) return;
  // What is being written goes on; a field that has just got the focus, with what stood in it before, was not meant by Enter.
  const isMeant = isField(event.target) && (event.key !== "Enter" || lastFocus < last.from || lastInput > last.from);
  if (!isMeant && (event.key.length === 1 || event.key === "Enter")) swallow(event);
}

const presses = ({ key }: KeyboardEvent) => key === "Enter" || key === " ";

/** The click of Enter comes with the key, and that of the space bar as it is let go. */
function notePressing(event: KeyboardEvent): void {
  if (!presses(event)) return;
  pressingSince = keyDown;
  setTimeout(() => {
    pressingSince = null;
  });
}

function watch(): void {
  const options = { capture: true } as const;
  const onUse = ({ target }: Event) => {
    if (isField(target)) lastWritten = now();
  };
  for (const type of ["keydown", "input", "pointerdown"] as const) window.addEventListener(type, onUse, options);
  // It is loaded when somebody has just sent a message.
  if (isField(document.activeElement)) lastWritten = now();
  const onMove = ({ clientX, clientY }: MouseEvent) => {
    pointer = { x: clientX, y: clientY };
  };
  window.addEventListener("pointermove", onMove, { capture: true, passive: true });
  window.addEventListener("pointerdown", onMove, { capture: true, passive: true });
  for (const type of ["pointerdown", "mousedown", "click"] as const) window.addEventListener(type, onPress, options);
  window.addEventListener("keydown", onKey, options);
  window.addEventListener("keyup", notePressing, options);
  window.addEventListener("focusin", () => {
    lastFocus = now();
  });
  window.addEventListener(
    "input",
    () => {
      lastInput = now();
    },
    options,
  );
  // Whoever comes back to the page presses it to come back.
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && uncover());
}

if (typeof window !== "undefined") watch();
