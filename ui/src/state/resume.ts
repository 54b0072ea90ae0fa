// How a turn stands that did not end well, and what can be offered to somebody about it.

import { isBroken, isDelegation, sessionName } from "./delegation";
import type { EndingEntry, SessionState, StreamingToolCall } from "./model";
import { startOf } from "./sentWith";
import { wholeText } from "./text";

const continue_text = "Continue with what you were doing.";
/** Nobody knows what came of the last thing it did. */
const check_text = "Check whether what you did last was done, and then continue with what you were doing.";
/** The session that the relay talks to when a message names none. */
const main_session = "main";

export interface Resume {
  /** The message that asks the agent to go on; null where no agent was interrupted. */
  goOn: string | null;
  /** The message that began the turn; null if it is on a page that was not fetched. */
  again: string | null;
}

/** Null unless the turn is the session's last one and nothing runs or waits. */
export function resume(state: SessionState, ending: EndingEntry, isRelay: boolean): Resume | null {
  if (state.runningTurn !== null || state.queue.length > 0 || ending.turnId !== state.lastTurn) return null;
  const first = state.entries[startOf(state, ending.turnId)];
  const again = first?.kind === "message" ? wholeText(first.text) : null;
  const broken = brokenCall(state, ending);
  if (ending.state === "failed" && !broken) return again === null ? null : { goOn: null, again };
  const name = broken ? sessionName(broken) : main_session;
  const text = ending.state === "unknown" ? check_text : continue_text;
  return { goOn: isRelay && name !== main_session ? `@${name} ${text}` : text, again };
}

/** The last call of the turn whose agent did not get to its end. */
export function brokenCall(state: SessionState, ending: EndingEntry): StreamingToolCall | undefined {
  const end = state.entries.findLastIndex((entry) => entry.id === ending.id);
  return state.entries
    .slice(startOf(state, ending.turnId) + 1, end)
    .flatMap((entry) => (entry.kind === "call" ? (state.calls[entry.id] ?? []) : []))
    .findLast((call) => isDelegation(call) && isBroken(call));
}

/** Whether the agent's own card, right above, says what the ending would say again. Why an agent broke off is left to the ending. */
export function isTold(state: SessionState, ending: EndingEntry): boolean {
  const before = state.entries
    .slice(startOf(state, ending.turnId) + 1)
    .flatMap((entry) => (entry.kind === "call" ? (state.calls[entry.id] ?? []) : []))
    .findLast(isDelegation);
  const told = before?.isError && !isBroken(before) ? (before.result ?? "").trim() : "";
  const text = ending.text.trim();
  return told !== "" && text !== "" && (told.includes(text) || text.includes(told));
}

/** The last call of the turn to an agent, where that failed. */
export function failedCall(state: SessionState, ending: EndingEntry): StreamingToolCall | undefined {
  const end = state.entries.findLastIndex((entry) => entry.id === ending.id);
  const last = state.entries
    .slice(startOf(state, ending.turnId) + 1, end)
    .flatMap((entry) => (entry.kind === "call" ? (state.calls[entry.id] ?? []) : []))
    .findLast(isDelegation);
  return last?.isError ? last : undefined;
}

/** The message that asks an agent to go on: said to the agent itself, or to the main AI that has it at hand. */
export function goOnText(call: StreamingToolCall, isRelay: boolean, check: boolean): string {
  const name = sessionName(call);
  if (!isRelay) {
    return check
      ? `Let the agent session \`${name}\` check whether what it did last was done, and then continue.`
      : `Let the agent session \`${name}\` continue with what it was doing.`;
  }
  const text = check ? check_text : continue_text;
  return name === main_session ? text : `@${name} ${text}`;
}

/** Whether the call belongs to the turn that was last, nothing runs and nothing is queued. */
export function isLatest(state: SessionState, call: StreamingToolCall): boolean {
  if (state.runningTurn !== null || state.queue.length > 0) return false;
  for (let at = state.entries.length - 1; at >= 0; at -= 1) {
    const entry = state.entries[at];
    if (entry?.kind === "message" && entry.role === "user") return false;
    if (entry?.kind === "call" && entry.id === call.id) return true;
  }
  return false;
}
