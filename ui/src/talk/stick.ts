// Keeps a scrolling box at its end while its content grows, until the reader scrolls up,
// and again when the reader comes back to the end.

import { createSignal, onCleanup } from "solid-js";

const near_px = 32;
/** For so long after the reader's hand was seen at the box, it may be what scrolls. */
const hand_ms = 1_000;
const hand_events = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

export interface Stick {
  atEnd: () => boolean;
  toEnd(): void;
  /** Lets go of the end: somewhere else is to be read. */
  leave(): void;
  /** Starts to watch; `content` is what grows inside the scroller. */
  attach(scroller: HTMLElement, content: HTMLElement): void;
}

export function createStick(): Stick {
  const [atEnd, setAtEnd] = createSignal(true);
  let scroller: HTMLElement | undefined;
  let lastTop = 0;
  let lastHeight = 0;
  let handAt = Number.NEGATIVE_INFINITY;
  let stuck = true;

  const toEnd = () => {
    stuck = true;
    setAtEnd(true);
    if (!scroller) return;
    scroller.scrollTop = scroller.scrollHeight;
    lastTop = scroller.scrollTop;
    lastHeight = scroller.scrollHeight;
  };
  const leave = () => {
    stuck = false;
    setAtEnd(false);
  };
  const seeHand = () => {
    handAt = performance.now();
  };
  const onScroll = () => {
    if (!scroller) return;
    const distance = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (distance <= near_px) stuck = true;
    else if (scroller.scrollTop < lastTop) {
      // Text that gets shorter as it is rendered takes scrollTop down with it, and may have grown again by now.
      const isReader = performance.now() - handAt < hand_ms || scroller.scrollHeight === lastHeight;
      if (isReader) stuck = false;
      else if (stuck) toEnd();
    }
    lastTop = scroller.scrollTop;
    lastHeight = scroller.scrollHeight;
    setAtEnd(stuck);
  };

  return {
    atEnd,
    toEnd,
    leave,
    attach(box, content) {
      scroller = box;
      box.addEventListener("scroll", onScroll, { passive: true });
      onCleanup(() => box.removeEventListener("scroll", onScroll));
      for (const name of hand_events) {
        box.addEventListener(name, seeHand, { passive: true });
        onCleanup(() => box.removeEventListener(name, seeHand));
      }
      if (typeof ResizeObserver === "undefined") return;
      const observer = new ResizeObserver(() => {
        if (stuck) toEnd();
      });
      observer.observe(content);
      observer.observe(box);
      onCleanup(() => observer.disconnect());
    },
  };
}
