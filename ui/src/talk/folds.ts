// What the reader opened or closed by hand stays so, also when the page is loaded again.

import { createStore, reconcile } from "solid-js/store";

const stored_as = "voxpilot.folds";
const most = 400;

function read(): Record<string, boolean> {
  try {
    const known: unknown = JSON.parse(sessionStorage.getItem(stored_as) ?? "{}");
    return typeof known === "object" && known !== null ? (known as Record<string, boolean>) : {};
  } catch {
    return {};
  }
}

const [folds, setFolds] = createStore<Record<string, boolean>>(read());

/** Undefined where nobody has touched it. */
export const handOf = (key: string): boolean | undefined => folds[key];

export function setHand(key: string, open: boolean): void {
  setFolds(key, open);
  try {
    const kept = Object.entries(folds).slice(-most);
    sessionStorage.setItem(stored_as, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // Without storage it holds until the page is left.
  }
}

/** For tests, which share a page. */
export function forget(): void {
  setFolds(reconcile({}));
  sessionStorage.removeItem(stored_as);
}
