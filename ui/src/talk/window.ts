// Which entries of a long conversation are drawn: those near what is looked at. The others are as tall as they were, and empty.

import { onCleanup } from "solid-js";

/** A conversation of so many entries is drawn whole, so that the browser can search in it. */
const whole_count = 120;
/** The newest are drawn at once: they are what is seen first. */
const newest_count = 12;
const margin_px = 1_600;
/** What drawing may take of a frame. */
const budget_ms = 10;

export interface Slot {
  isDrawn(): boolean;
  draw(): void;
  clear(): void;
}

export interface DrawnWindow {
  /** Whether an entry is drawn when it is made. */
  startsDrawn(index: number): boolean;
  watch(element: HTMLElement, slot: Slot): void;
  attach(scroller: HTMLElement): void;
}

export function createWindow(count: () => number): DrawnWindow {
  const slots = new Map<Element, Slot>();
  const heights = new Map<Element, number>();
  const wanted = new Set<Element>();
  let scroller: HTMLElement | undefined;
  let near: IntersectionObserver | undefined;
  let sizes: ResizeObserver | undefined;
  let frame = 0;
  const keepsPlace = typeof CSS !== "undefined" && CSS.supports?.("overflow-anchor", "auto");

  /** Draws what is nearest first, a little in each frame, so that scrolling never waits for it. */
  function drawSome(): void {
    frame = 0;
    if (!scroller) return;
    const middle = scroller.getBoundingClientRect().top + scroller.clientHeight / 2;
    const distance = (element: Element) => Math.abs(element.getBoundingClientRect().top - middle);
    const next = [...wanted].map((element) => ({ element, far: distance(element) })).sort((a, b) => a.far - b.far);
    const start = performance.now();
    for (const { element } of next) {
      wanted.delete(element);
      slots.get(element)?.draw();
      if (performance.now() - start > budget_ms) break;
    }
    if (wanted.size > 0) frame = requestAnimationFrame(drawSome);
  }

  function see(changes: IntersectionObserverEntry[]): void {
    const left: { element: HTMLElement; slot: Slot; height: number }[] = [];
    for (const { target, isIntersecting } of changes) {
      const slot = slots.get(target);
      if (!slot) continue;
      if (isIntersecting) {
        if (!slot.isDrawn()) wanted.add(target);
        continue;
      }
      wanted.delete(target);
      const height = heights.get(target) ?? 0;
      if (!slot.isDrawn() || count() <= whole_count || height === 0 || isHeld(target)) continue;
      left.push({ element: target as HTMLElement, slot, height });
    }
    // Asked and changed by turns, each would be a layout of its own: where a selection is, is a question of layout.
    for (const { element, slot, height } of left) {
      element.style.setProperty("--height", `${height}px`);
      slot.clear();
    }
    if (wanted.size > 0 && frame === 0) frame = requestAnimationFrame(drawSome);
  }

  function measure(changes: ResizeObserverEntry[]): void {
    for (const { target, borderBoxSize } of changes) {
      const height = borderBoxSize[0]?.blockSize ?? 0;
      const before = heights.get(target);
      if (slots.get(target)?.isDrawn()) heights.set(target, height);
      if (keepsPlace || !scroller || before === undefined || before === height) continue;
      // A browser that does not hold the place of what is read is helped to.
      const isAbove = target.getBoundingClientRect().bottom <= scroller.getBoundingClientRect().top;
      if (isAbove) scroller.scrollTop += height - before;
    }
  }

  return {
    startsDrawn: (index) =>
      typeof IntersectionObserver === "undefined" || count() <= whole_count || index >= count() - newest_count,
    watch(element, slot) {
      slots.set(element, slot);
      near?.observe(element);
      sizes?.observe(element);
      onCleanup(() => {
        for (const of of [slots, heights]) of.delete(element);
        wanted.delete(element);
        near?.unobserve(element);
        sizes?.unobserve(element);
      });
    },
    attach(box) {
      scroller = box;
      if (typeof IntersectionObserver === "undefined" || typeof ResizeObserver === "undefined") return;
      near = new IntersectionObserver(see, { root: box, rootMargin: `${margin_px}px 0px` });
      sizes = new ResizeObserver(measure);
      for (const element of slots.keys()) {
        near.observe(element);
        sizes.observe(element);
      }
      onCleanup(() => {
        near?.disconnect();
        sizes?.disconnect();
        cancelAnimationFrame(frame);
      });
    },
  };
}

/** Somebody is at it: the keyboard, or a selection that would be lost. */
function isHeld(element: Element): boolean {
  const selection = getSelection();
  const isSelected = selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
  return isSelected || element.contains(document.activeElement);
}
