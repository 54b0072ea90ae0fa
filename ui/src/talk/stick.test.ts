import { createRoot } from "solid-js";
import { expect, it } from "vitest";
import { createStick, type Stick } from "./stick";

/** A box without a layout: it is as tall as it is told, and keeps its place within that, as a browser's does. */
function attach(): { stick: Stick; box: HTMLElement; resize(height: number): void } {
  const box = document.createElement("div");
  const view = 100;
  let height = view;
  let top = 0;
  Object.defineProperties(box, {
    clientHeight: { get: () => view },
    scrollHeight: { get: () => height },
    scrollTop: {
      get: () => top,
      set: (value: number) => {
        top = Math.max(0, Math.min(value, height - view));
      },
    },
  });
  const stick = createRoot(() => {
    const stick = createStick();
    stick.attach(box, document.createElement("div"));
    return stick;
  });
  const resize = (next: number) => {
    height = next;
    box.scrollTop = top;
  };
  return { stick, box, resize };
}

function scroll(box: HTMLElement): void {
  box.dispatchEvent(new Event("scroll"));
}

it("lets go when the reader scrolls up, and holds again at the end", () => {
  const { stick, box, resize } = attach();
  resize(1_000);
  stick.toEnd();
  box.scrollTop = 500;
  scroll(box);
  expect(stick.atEnd()).toBe(false);
  box.scrollTop = 890;
  scroll(box);
  expect(stick.atEnd()).toBe(true);
});

it("text that shrinks and grows again is not the reader", () => {
  const { stick, box, resize } = attach();
  resize(1_000);
  stick.toEnd();
  resize(700);
  resize(1_100);
  scroll(box);
  expect(stick.atEnd()).toBe(true);
  expect(box.scrollTop).toBe(1_000);
});

it("a reader who scrolls while the text grows is let go", () => {
  const { stick, box, resize } = attach();
  resize(1_000);
  stick.toEnd();
  box.dispatchEvent(new WheelEvent("wheel", { deltaY: -200 }));
  resize(1_100);
  box.scrollTop = 700;
  scroll(box);
  expect(stick.atEnd()).toBe(false);
});
