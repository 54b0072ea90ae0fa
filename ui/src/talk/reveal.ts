// Brings what was found in a conversation into view: opens the folds around it and marks it.

import type { SessionState } from "../state/model";
import { setHand } from "./folds";
import { mark, patternOf, rangesIn } from "./marks";
import { type Find, findsOf } from "./passages";
import { entryElement, settle } from "./settle";

const wait_ms = 1_500;
const flash_ms = 2_400;

export interface Wanted {
  scroller: HTMLElement;
  state: SessionState;
  /** The id of the entry. */
  entry: string;
  query: string;
  /** Where in it; else what is said sooner than what is folded away. */
  find?: Find;
  /** Something else is wanted by now. */
  isOver?: () => boolean;
}

/** Null where the words are not to be seen, as they are in no text of the page: then the entry is shown. */
export async function reveal(wanted: Wanted): Promise<Range | null> {
  const { scroller, state, query, isOver = () => false } = wanted;
  const index = state.entries.findIndex(({ id }) => id === wanted.entry);
  const pattern = patternOf(query) ?? patternOf(query.replace(/[`*_#]/g, ""));
  const find = wanted.find ?? (pattern ? firstFind(state, index, pattern) : undefined);
  for (const key of find?.passage.folds ?? []) setHand(key, true);
  const isSeen = () => topOf(scroller, shownElement(scroller, wanted.entry));
  if (!isInView(scroller, shownElement(scroller, wanted.entry))) await settle(scroller, isSeen, isOver);
  if (isOver()) return null;
  const range = pattern ? await findRange(wanted, pattern, find) : null;
  if (isOver()) return null;
  if (range) {
    showInBoxes(range, scroller);
    mark("found-here", [range]);
    await settle(scroller, () => fromMiddle(scroller, range), isOver);
  } else flash(shownElement(scroller, wanted.entry));
  return range;
}

function firstFind(state: SessionState, index: number, pattern: RegExp): Find | undefined {
  return findsOf(state, index, pattern).toSorted((a, b) => a.passage.folds.length - b.passage.folds.length)[0];
}

/** Agents that were started together are drawn with the first of them. */
function shownElement(scroller: HTMLElement, id: string): HTMLElement | null {
  let element: Element | null = entryElement(scroller, id);
  while (element && !element.classList.contains("far") && element.childElementCount === 0)
    element = element.previousElementSibling;
  return element as HTMLElement | null;
}

/** What is folded away comes a frame later, and long output has to be asked for. */
async function findRange(wanted: Wanted, pattern: RegExp, find: Find | undefined): Promise<Range | null> {
  const fold = find?.passage.folds.at(-1);
  const nth = find?.nth ?? 0;
  const until = performance.now() + wait_ms;
  for (;;) {
    const entry = shownElement(wanted.scroller, wanted.entry);
    if (entry && !entry.classList.contains("far")) {
      const all = rangesIn(entry, pattern);
      const own = all.filter((range) => foldOf(range) === fold);
      const range = own[nth] ?? (own.length > 0 ? own.at(-1) : undefined);
      if (range && own.length > nth) return range;
      if (!showMore(entry, fold) && performance.now() > until - wait_ms / 2) return range ?? all[0] ?? null;
    }
    if (performance.now() > until || wanted.isOver?.()) return null;
    await new Promise(requestAnimationFrame);
  }
}

/** The line that sums a card up says again what is in it. */
const foldOf = (range: Range) =>
  range.startContainer.parentElement?.closest<HTMLElement>("[data-fold], .agent-now")?.dataset.fold;

/** Only the end of a long text or output is drawn. */
function showMore(entry: HTMLElement, fold: string | undefined): boolean {
  const buttons = [...entry.querySelectorAll<HTMLElement>(".fold-more, .show-earlier")];
  const own = buttons.filter((button) => button.closest<HTMLElement>("[data-fold]")?.dataset.fold === fold);
  for (const button of own) button.click();
  return own.length > 0;
}

function isInView(scroller: HTMLElement, element: HTMLElement | null): boolean {
  if (!element || element.classList.contains("far")) return false;
  const [own, box] = [element.getBoundingClientRect(), scroller.getBoundingClientRect()];
  return own.top < box.bottom && own.bottom > box.top;
}

function topOf(scroller: HTMLElement, element: HTMLElement | null): number | null {
  if (!element || element.classList.contains("far")) {
    element?.scrollIntoView({ block: "start" });
    return null;
  }
  return element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - scroller.clientHeight / 4;
}

function fromMiddle(scroller: HTMLElement, range: Range): number | null {
  if (!range.startContainer.isConnected) return 0;
  const [own, box] = [range.getBoundingClientRect(), scroller.getBoundingClientRect()];
  return own.top + own.height / 2 - (box.top + box.height / 2);
}

/** What scrolls by itself inside the conversation: an agent's card, output, wide code. */
function showInBoxes(range: Range, scroller: HTMLElement): void {
  let box = range.startContainer.parentElement;
  while (box && box !== scroller) {
    if (box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1) {
      const [own, seen] = [range.getBoundingClientRect(), box.getBoundingClientRect()];
      if (own.top < seen.top || own.bottom > seen.bottom) box.scrollTop += own.top - seen.top - seen.height / 2;
      if (own.left < seen.left || own.right > seen.right) box.scrollLeft += own.left - seen.left - seen.width / 2;
    }
    box = box.parentElement;
  }
}

function flash(element: HTMLElement | null): void {
  if (!element) return;
  element.classList.add("found-entry");
  setTimeout(() => element.classList.remove("found-entry"), flash_ms);
}
