import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { watchSwipes } from "./swipe";

const onSwipe = vi.fn();
const frame = document.createElement("div");
let isOn = true;
const stop = watchSwipes(frame, { isOn: () => isOn, onSwipe });
beforeAll(() => vi.stubGlobal("innerWidth", 390));
afterEach(() => onSwipe.mockReset());
afterAll(() => {
  stop();
  vi.unstubAllGlobals();
});

/** Answers whether the browser is kept from doing something of its own with it. */
function wipe(from: [number, number], to: [number, number], on: HTMLElement = frame): boolean {
  const touch = ([clientX, clientY]: [number, number]) => ({ clientX, clientY });
  const event = (type: string, fields: object) =>
    Object.assign(new Event(type, { bubbles: true, cancelable: true }), fields);
  on.dispatchEvent(event("touchstart", { touches: [touch(from)] }));
  const isTaken = !on.dispatchEvent(event("touchmove", { touches: [touch(to)] }));
  on.dispatchEvent(event("touchend", { changedTouches: [touch(to)] }));
  return isTaken;
}

it("goes to the next and the previous one, and the browser does not as well", () => {
  expect([wipe([300, 400], [60, 410]), wipe([60, 400], [300, 390])]).toEqual([true, true]);
  expect(onSwipe.mock.calls).toEqual([[1], [-1]]);
});

it("leaves the edges and what goes up or down to the browser", () => {
  expect([wipe([380, 400], [60, 400]), wipe([10, 400], [300, 400]), wipe([200, 100], [210, 300])]).toEqual([
    false,
    false,
    false,
  ]);
  wipe([200, 400], [150, 400]);
  wipe([200, 100], [290, 200]);
  expect(onSwipe).not.toHaveBeenCalled();
});

it("leaves what has its own use for it alone, and does nothing where there is nothing to wipe to", () => {
  const field = frame.appendChild(document.createElement("input"));
  expect(wipe([300, 400], [60, 400], field)).toBe(false);
  isOn = false;
  expect(wipe([300, 400], [60, 400])).toBe(false);
  isOn = true;
  expect(onSwipe).not.toHaveBeenCalled();
});
