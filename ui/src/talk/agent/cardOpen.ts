// Whether an agent's card is open: from its start to a moment after its end, unless somebody is reading in it.

import { createEffect, createMemo, createSignal, on, onCleanup } from "solid-js";
import { handOf, setHand } from "../folds";

export const close_after_ms = 600;
const near_end_px = 40;

interface CardOpenOptions {
  /** Under which name the reader's choice is kept. */
  key: string;
  running: () => boolean;
  card: () => HTMLElement | undefined;
}

export function createCardOpen(options: CardOpenOptions) {
  const [auto, setAuto] = createSignal(options.running());
  let timer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(timer));
  const open = createMemo(() => handOf(options.key) ?? auto());
  createEffect(
    on(
      options.running,
      (running) => {
        clearTimeout(timer);
        if (running) setAuto(true);
        else timer = setTimeout(close, close_after_ms);
      },
      { defer: true },
    ),
  );
  function close(): void {
    const card = options.card();
    if (card && isRead(card)) return;
    if (card) keepPlace(card, () => setAuto(false));
    else setAuto(false);
  }
  return {
    open,
    onToggle(event: Event & { currentTarget: HTMLDetailsElement }) {
      const now = event.currentTarget.open;
      if (now !== open()) setHand(options.key, now);
    },
  };
}

/** Focus, a selection, the pointer or the place of reading is inside. */
export function isRead(card: HTMLElement): boolean {
  const focused = document.activeElement;
  if (focused && focused !== document.body && card.contains(focused)) return true;
  const selection = document.getSelection();
  if (selection && !selection.isCollapsed && selection.anchorNode && card.contains(selection.anchorNode)) return true;
  if (card.matches(":hover")) return true;
  const log = card.closest<HTMLElement>(".log");
  if (!log) return false;
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight <= near_end_px;
  if (isAtEnd) return false;
  const seen = log.getBoundingClientRect();
  const own = card.getBoundingClientRect();
  return own.top < seen.bottom && own.bottom > seen.top;
}

/** What is read below a card that closes stays where it is. */
function keepPlace(card: HTMLElement, change: () => void): void {
  const log = card.closest<HTMLElement>(".log");
  if (!log || card.getBoundingClientRect().bottom > log.getBoundingClientRect().top) {
    change();
    return;
  }
  const fromEnd = log.scrollHeight - log.scrollTop;
  log.classList.add("prepending");
  card.classList.add("at-once");
  change();
  log.scrollTop = log.scrollHeight - fromEnd;
  requestAnimationFrame(() => {
    log.classList.remove("prepending");
    card.classList.remove("at-once");
  });
}
