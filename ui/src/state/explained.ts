// What is said of a call elsewhere: in the dock, or by how its whole turn ended.

import { isOpenDelegation, namedAgent, sessionName } from "./delegation";
import type { SessionState, StreamingToolCall } from "./model";
import { loginAgent } from "./notices";
import { isStraight } from "./straight";

/** Its agent waits for a login; others may work meanwhile. */
export function waitsForLogin(state: SessionState, call: StreamingToolCall): boolean {
  if (state.login === null || state.login.trying || !isOpenDelegation(call)) return false;
  const named = namedAgent(call);
  return sessionName(call) === state.login.sessionName || (named !== null && named === loginAgent(state));
}

/** How the whole turn ended says how this call of it ended: it was stopped with it, or broke it off. */
export function isExplained(state: SessionState, call: StreamingToolCall, index?: number): boolean {
  const reason = call.copilotDone?.stopReason;
  const from = index ?? state.entries.findLastIndex((entry) => entry.kind === "call" && entry.id === call.id);
  for (let at = from + 1; at < state.entries.length; at += 1) {
    const entry = state.entries[at];
    if (entry?.kind === "message" && entry.role === "user") return false;
    if (entry?.kind === "ending" && (isStraight(call) || entry.state !== "failed")) return true;
    if (entry?.kind === "notice" && entry.notice.code === "cancelled") return reason === "cancelled" || call.abandoned;
  }
  return false;
}
