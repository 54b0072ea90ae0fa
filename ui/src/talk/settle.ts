// Brings a place of the conversation to where it is to be seen, while what is around it is still being drawn.

const hand_events = ["wheel", "touchmove", "pointerdown", "keydown"] as const;
/** So many frames without a change, and it has settled. */
const calm_frames = 4;
const longest_ms = 3_000;

/** `missing` says how far the view is from where it should be; null while that cannot be said. The reader's hand ends it. */
export function settle(
  scroller: HTMLElement,
  missing: () => number | null,
  isStopped: () => boolean = () => false,
): Promise<void> {
  return new Promise((resolve) => {
    const until = performance.now() + longest_ms;
    let calm = 0;
    let isEnded = false;
    const end = () => {
      if (isEnded) return;
      isEnded = true;
      for (const name of hand_events) scroller.removeEventListener(name, end);
      resolve();
    };
    for (const name of hand_events) scroller.addEventListener(name, end, { passive: true });
    const step = () => {
      if (isEnded) return;
      if (isStopped()) return end();
      const by = missing();
      const before = scroller.scrollTop;
      if (by !== null && Math.abs(by) >= 1) scroller.scrollTop += by;
      calm = by !== null && Math.abs(scroller.scrollTop - before) < 1 ? calm + 1 : 0;
      if (calm >= calm_frames || performance.now() > until || !scroller.isConnected) end();
      else requestAnimationFrame(step);
    };
    step();
  });
}

export function entryElement(scroller: HTMLElement, id: string): HTMLElement | null {
  return scroller.querySelector<HTMLElement>(`.entry[data-entry="${CSS.escape(id)}"]`);
}
