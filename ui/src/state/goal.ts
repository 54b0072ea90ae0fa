// Where a conversation is to be opened: at what a search found in it.

import { createSignal } from "solid-js";
import { goTo } from "./route";

export interface Goal {
  sessionId: string;
  /** Ids of entries; the first that exists is the one. */
  entries: string[];
  /** What was searched for. */
  query: string;
}

const [goal, setGoal] = createSignal<Goal | null>(null);

export { goal };

export function openAt(wanted: Goal): void {
  setGoal(wanted);
  goTo(wanted.sessionId);
}

/** Each goal is reached once. */
export function takeGoal(sessionId: string): Goal | null {
  const wanted = goal();
  if (wanted?.sessionId !== sessionId) return null;
  setGoal(null);
  return wanted;
}
