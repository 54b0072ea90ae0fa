// Changes of a session's state that do not come from its stream: what this page fetched or did itself.

import type { Message, ReviewArtifact } from "../api/types";
import { emptyState, type SessionState } from "./model";
import { apply } from "./reducer";

/** Puts older messages in front. */
export function applyOlder(
  state: SessionState,
  messages: Message[],
  more: boolean,
  artifacts: ReviewArtifact[] = [],
): void {
  const older = emptyState(state.epoch);
  for (const message of messages) apply(older, { event: "message", data: message });
  apply(older, { event: "ready", data: { seq: 0 } });

  const fresh = older.entries.filter((entry) => entry.kind !== "call" || !(entry.id in state.calls));
  for (const [id, call] of Object.entries(older.calls)) {
    const known = state.calls[id];
    if (!known) state.calls[id] = call;
    else if (known.arguments === "") {
      // The page border fell between the call and its result.
      known.name = call.name;
      known.arguments = call.arguments;
      known.startedAt = call.startedAt;
    }
  }
  for (const artifact of artifacts) state.artifacts[artifact.artifact_id] ??= artifact;
  state.entries = [...fresh, ...state.entries];
  state.oldestMessage = older.oldestMessage ?? state.oldestMessage;
  state.moreBefore = more && messages.length > 0;
}

/** How much of a conversation is kept, and how much more it may be before the rest is dropped. */
const kept_entries = 300;
const most_entries = 600;

/** Drops what is far above the end; it is fetched again when somebody scrolls up to it. */
export function applyDropOldest(state: SessionState): void {
  if (state.entries.length <= most_entries) return;
  // A turn is kept whole: its calls and results belong together.
  const from = state.entries.findIndex(
    (entry, index) => index >= state.entries.length - kept_entries && entry.kind === "message" && entry.role === "user",
  );
  const first = state.entries[from];
  if (first?.kind !== "message") return;
  for (const entry of state.entries.slice(0, from)) if (entry.kind === "call") delete state.calls[entry.id];
  state.entries = state.entries.slice(from);
  state.oldestMessage = first.id;
  state.moreBefore = true;
}

/** A confirmation was given here; the stream says nothing of it until the tool has run. */
export function applyConfirmed(state: SessionState, callId: string): void {
  state.confirms = state.confirms.filter((confirm) => confirm.id !== callId);
}

export function applyPermitted(state: SessionState, requestId: string): void {
  state.permissions = state.permissions.filter((request) => request.request_id !== requestId);
}

export function applyLoginTried(state: SessionState): void {
  if (state.login !== null) state.login.trying = true;
}
