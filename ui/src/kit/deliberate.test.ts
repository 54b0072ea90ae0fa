import { createRoot } from "solid-js";
import { afterEach, expect, it, vi } from "vitest";
import { createSettling, type Settling, settle_ms, shieldPress } from "./deliberate";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const here = { clientX: 400, clientY: 300 };
const elsewhere = { clientX: 40, clientY: 600 };

/** Presses there, and says whether the page heard of it. */
function press(place: typeof here): boolean {
  const heard = vi.fn();
  document.body.addEventListener("click", heard);
  for (const type of ["pointermove", "pointerdown", "mousedown", "click"])
    document.body.dispatchEvent(new MouseEvent(type, { ...place, bubbles: true, cancelable: true, detail: 1 }));
  document.body.removeEventListener("click", heard);
  return heard.mock.calls.length > 0;
}

it("the second press of what closed something does nothing", () => {
  expect(press(here)).toBe(true);
  shieldPress();
  expect(press(here)).toBe(false);
  expect(press({ ...here, clientX: here.clientX + 10 }), "a hand is not steady").toBe(false);
});

it("whoever presses elsewhere in between does not press twice", () => {
  press(elsewhere);
  press(here);
  shieldPress();
  expect(press(elsewhere)).toBe(true);
  expect(press(here)).toBe(true);
});

it("what has grown takes no press on its new part before that was painted for a moment", () => {
  vi.useFakeTimers();
  let frames: FrameRequestCallback[] = [];
  vi.stubGlobal("requestAnimationFrame", (frame: FrameRequestCallback) => frames.push(frame));
  const paint = () => {
    const due = frames;
    frames = [];
    for (const frame of due) frame(performance.now());
  };
  const button = document.createElement("button");
  let place = new DOMRectReadOnly(0, 100, 200, 40);
  button.getBoundingClientRect = () => place as DOMRect;
  const { settling, dispose } = createRoot((dispose) => ({
    settling: createSettling(
      () => true,
      () => button,
    ),
    dispose,
  }));
  paint();
  vi.advanceTimersByTime(settle_ms);
  paint();
  expect(takes(settling, 120)).toBe(true);

  place = new DOMRectReadOnly(0, 60, 200, 80);
  vi.advanceTimersByTime(2 * settle_ms);
  expect(settling.isSettled(), "its middle is where it was").toBe(true);
  paint();
  vi.advanceTimersByTime(settle_ms / 2);
  expect(takes(settling, 70), "the busy page has just painted it").toBe(false);
  expect(takes(settling, 120)).toBe(true);
  vi.advanceTimersByTime(settle_ms);
  expect(takes(settling, 70)).toBe(true);
  dispose();
});

/** Presses at that height, and says whether it was meant. */
function takes(settling: Settling, clientY: number): boolean {
  const events = ["pointerdown", "click"].map((type) => {
    const event = new MouseEvent(type, { clientX: 50, clientY, detail: 1 });
    Object.defineProperty(event, "timeStamp", { value: performance.now() });
    return event;
  });
  for (const event of events) window.dispatchEvent(event);
  return events.every((event) => event.type === "pointerdown" || settling.takes(event));
}
