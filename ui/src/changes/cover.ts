// What lies beneath the changes or a file can neither be pressed nor tabbed into. Where there is room they lie beside it.

import { uncover } from "../kit/deliberate";

/** Covers the pane with what is over it, which gets the focus. Returns how to end it: then the focus goes back. */
export function coverPane(over: HTMLElement): () => void {
  const pane = document.querySelector<HTMLElement>(".app > main");
  const wide = window.matchMedia?.("(min-width: 1440px)");
  if (!pane || !wide) return () => {};
  let before: Element | null = null;
  let isCovered = false;
  // The pane itself stays: a page has one main part.
  const setInert = () => {
    for (const child of pane.children) if (child instanceof HTMLElement) child.inert = isCovered;
  };
  const late = new MutationObserver(setInert);
  const cover = () => {
    before = pane.contains(document.activeElement) ? document.activeElement : null;
    isCovered = true;
    setInert();
    late.observe(pane, { childList: true });
    if (before) over.focus({ preventScroll: true });
  };
  const end = () => {
    if (!isCovered) return;
    isCovered = false;
    late.disconnect();
    setInert();
    uncover();
    const isFree = document.activeElement === document.body || over.contains(document.activeElement);
    if (isFree && before instanceof HTMLElement) before.focus({ preventScroll: true });
  };
  const onWidth = () => (wide.matches ? end() : cover());
  onWidth();
  wide.addEventListener("change", onWidth);
  return () => {
    wide.removeEventListener("change", onWidth);
    end();
  };
}
