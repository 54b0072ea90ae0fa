// How a review is looked at: what the window has room for, and what somebody asked for.

import { createSignal, onCleanup } from "solid-js";
import { readStored, store } from "../state/storage";

type View = "unified" | "split";

export function createMedia(query: string): () => boolean {
  const media = window.matchMedia?.(query);
  const [matches, setMatches] = createSignal(media?.matches ?? false);
  const listen = () => setMatches(media?.matches ?? false);
  media?.addEventListener("change", listen);
  onCleanup(() => media?.removeEventListener("change", listen));
  return matches;
}

export const phone_query = "(max-width: 699px)";
const wide_query = "(min-width: 1400px)";

/** Split where there is room, unless somebody has asked for the other; that is remembered. */
export function createView(): { view: () => View; choose(view: View): void } {
  const isWide = createMedia(wide_query);
  const [asked, setAsked] = createSignal(readStored("review.view") as View | null);
  return {
    view: () => asked() ?? (isWide() ? "split" : "unified"),
    choose(view) {
      store("review.view", view);
      setAsked(view);
    },
  };
}

/** Counts how often somebody has come back to the page. */
export function createVisits(): () => number {
  const [visits, setVisits] = createSignal(0);
  const count = () => document.visibilityState === "visible" && setVisits((before) => before + 1);
  document.addEventListener("visibilitychange", count);
  window.addEventListener("focus", count);
  onCleanup(() => {
    document.removeEventListener("visibilitychange", count);
    window.removeEventListener("focus", count);
  });
  return visits;
}
