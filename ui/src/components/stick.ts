// Keeps a scrolling box at its end while its content grows, until the reader scrolls up,
// and again when the reader comes back to the end.

import { createSignal, onCleanup } from "solid-js";

const near_px = 32;

export interface Stick {
  atEnd: () => boolean;
  toEnd(): void;
  /** Starts to watch; `content` is what grows inside the scroller. */
  attach(scroller: HTMLElement, content: HTMLElement): void;
}

export function createStick(): Stick {
  const [atEnd, setAtEnd] = createSignal(true);
  let scroller: HTMLElement | undefined;
  let lastTop = 0;
  let stuck = true;

  const toEnd = () => {
    stuck = true;
    setAtEnd(true);
    if (!scroller) return;
    scroller.scrollTop = scroller.scrollHeight;
    lastTop = scroller.scrollTop;
  };
  const onScroll = () => {
    if (!scroller) return;
    const distance = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (distance <= near_px) stuck = true;
    // Growth alone leaves scrollTop where it was; only a reader makes it smaller.
    else if (scroller.scrollTop < lastTop) stuck = false;
    lastTop = scroller.scrollTop;
    setAtEnd(stuck);
  };

  return {
    atEnd,
    toEnd,
    attach(box, content) {
      scroller = box;
      box.addEventListener("scroll", onScroll, { passive: true });
      onCleanup(() => box.removeEventListener("scroll", onScroll));
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
