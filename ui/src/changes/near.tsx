// Long things are put together when they come near, and taken apart when they are far: their place is kept.

import { createEffect, createSignal, type JSX, onCleanup, onMount, Show } from "solid-js";

/** About two screens: what is scrolled to is there before it is seen. */
const margin = "1600px 0px";

type Tell = (isNear: boolean, height: number) => void;
const watched = new WeakMap<Element, Tell>();
let observer: IntersectionObserver | undefined;

function watch(element: Element, tell: Tell): () => void {
  if (typeof IntersectionObserver === "undefined") {
    tell(true, 0);
    return () => {};
  }
  // The first for the window, the second for what scrolls within it.
  const options = { rootMargin: margin, scrollMargin: margin };
  observer ??= new IntersectionObserver((entries) => {
    for (const entry of entries) watched.get(entry.target)?.(entry.isIntersecting, entry.boundingClientRect.height);
  }, options);
  const shared = observer;
  watched.set(element, tell);
  shared.observe(element);
  return () => shared.unobserve(element);
}

interface NearProps {
  /** How high it will be, roughly. */
  estimate_px: number;
  /** Put together at once and kept, whatever is in sight. */
  always?: boolean;
  children: JSX.Element;
}

export function Near(props: NearProps) {
  let place!: HTMLDivElement;
  const [isNear, setNear] = createSignal(false);
  const [height, setHeight] = createSignal<number | null>(null);
  const isShown = () => props.always || isNear();
  onMount(() =>
    onCleanup(
      watch(place, (near, measured) => {
        if (near) return setNear(true);
        // Whoever writes in it, or stands in it, keeps it.
        if (!isShown() || props.always || place.contains(document.activeElement) || place.querySelector("textarea"))
          return;
        setHeight(measured);
        setNear(false);
      }),
    ),
  );
  createEffect(() => {
    place.style.minHeight = isShown() ? "" : `${height() ?? props.estimate_px}px`;
  });
  return (
    <div ref={place} class="near">
      <Show when={isShown()}>{props.children}</Show>
    </div>
  );
}
