// Changes of a session's state that do not come from its stream: what this page fetched or did itself.

import type { Message } from "../api/types";
import { emptyState, findMessage, type SessionState } from "./model";
import { apply } from "./reducer";

/** The server rendered the first `length` code units of a message. */
export function applyRendered(state: SessionState, id: string, html: string, length: number): void {
  const entry = findMessage(state, id);
  // A later form may have arrived while this one was under way.
  if (!entry || length < entry.htmlLength || length > entry.text.length) return;
  entry.html = html;
  entry.htmlLength = length;
}

/** Puts older messages in front. */
export function applyOlder(state: SessionState, messages: Message[], more: boolean): void {
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
    }
  }
  state.entries = [...fresh, ...state.entries];
  state.oldestMessage = older.oldestMessage ?? state.oldestMessage;
  state.moreBefore = more && messages.length > 0;
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
