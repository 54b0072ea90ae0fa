// Opens a conversation where it was left, or at what a search found in it.

import { createEffect, onCleanup, untrack } from "solid-js";
import { insist } from "../kit/later";
import { type Goal, goal, takeGoal } from "../state/goal";
import type { OpenSession } from "../state/openSession";
import { keepReadingPlace, type ReadingPlace, readingPlace } from "../state/readingPlace";
import { entryElement, settle } from "./settle";
import type { Stick } from "./stick";

const rest_ms = 200;
/** The most that the server gives at once. */
const page_limit = 200;

interface ReadingOptions {
  open: OpenSession;
  stick: Stick;
  scroller: HTMLElement;
  isDrawn: () => boolean;
  /** Puts older messages above what is read, which stays where it is. */
  insert: (apply: () => void) => void;
  /** It is not to be opened at its end. */
  isElsewhere: boolean;
}

/** Resolves when what is to be seen first was fetched; it is shown once it is drawn. */
export async function createReading(options: ReadingOptions): Promise<void> {
  const { open, stick, scroller, isDrawn, insert } = options;
  const { state } = open;

  const known = (ids: string[]) => untrack(() => state.entries.find(({ id }) => ids.includes(id))?.id ?? null);
  async function fetchUntil(ids: string[], put: (apply: () => void) => void): Promise<string | null> {
    while (known(ids) === null && untrack(() => state.moreBefore) && !open.gone()) {
      const before = state.oldestMessage;
      await open.loadOlder(put, page_limit).catch(() => {});
      if (state.oldestMessage !== before) continue;
      // Somebody else is loading, or nothing came.
      if (!open.loadingOlder()) break;
      await new Promise(requestAnimationFrame);
    }
    return known(ids);
  }
  async function reach({ entries, query }: Goal): Promise<void> {
    stick.leave();
    const entry = await fetchUntil(entries, insert);
    if (entry === null) return;
    const { reveal } = await insist(() => import("./reveal"));
    await reveal({ scroller, state, entry, query });
  }

  const note = () => {
    if (isDrawn() && scroller.isConnected) keepReadingPlace(open.id, stick.atEnd() ? null : placeIn(scroller));
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const noteSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(note, rest_ms);
  };
  scroller.addEventListener("scroll", noteSoon, { passive: true });
  window.addEventListener("pagehide", note);
  onCleanup(() => {
    clearTimeout(timer);
    window.removeEventListener("pagehide", note);
    untrack(note);
  });

  let first: (() => void) | null = null;
  createEffect(() => {
    const isGoal = goal()?.sessionId === open.id;
    if (!isDrawn()) return;
    const wanted = isGoal ? untrack(() => takeGoal(open.id)) : null;
    const next = wanted ? () => void reach(wanted) : first;
    first = null;
    if (next) untrack(next);
  });
  if (!options.isElsewhere) return;
  const wanted = untrack(() => takeGoal(open.id));
  const place = wanted ? null : readingPlace(open.id);
  stick.leave();
  const found = await fetchUntil(wanted?.entries ?? [place?.entry ?? ""], (apply) => apply());
  if (found === null) stick.toEnd();
  else if (wanted) first = () => void reach(wanted);
  else if (place) first = () => void returnTo(scroller, place);
}

function returnTo(scroller: HTMLElement, place: ReadingPlace): Promise<void> {
  return settle(scroller, () => {
    const element = entryElement(scroller, place.entry);
    if (!element) return null;
    return element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - place.offset_px;
  });
}

/** The entry at the top of the view. */
function placeIn(scroller: HTMLElement): ReadingPlace | null {
  const { top } = scroller.getBoundingClientRect();
  for (const element of scroller.querySelectorAll<HTMLElement>(".entry")) {
    const box = element.getBoundingClientRect();
    if (box.height > 0 && box.bottom > top && element.dataset.entry)
      return { entry: element.dataset.entry, offset_px: Math.round(box.top - top) };
  }
  return null;
}
