// The message that began a turn.

import type { Attachment } from "../api/types";
import type { SessionState } from "./model";

/** What went along with the message that began the turn. */
export function sentWith(state: SessionState, turnId: string): Attachment[] {
  const first = state.entries[startOf(state, turnId)];
  return first?.kind === "message" ? first.attachments : [];
}

/** Where the turn begins; -1 if that is on a page that was not fetched. */
export function startOf(state: SessionState, turnId: string): number {
  return state.entries.findLastIndex(
    (entry) => entry.kind === "message" && entry.role === "user" && entry.turnId === turnId,
  );
}
