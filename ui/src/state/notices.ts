// What the server says about a session beside its conversation: notices, how turns ended, and that somebody must log in.
// The same word twice in a turn is one entry, whether it came live, in a snapshot or both.

import type { EventData, Notice } from "../api/types";
import { isDelegation, isOpenDelegation, namedAgent, sessionName } from "./delegation";
import type { EndingEntry, Entry, NoticeEntry, SessionState, StreamingToolCall } from "./model";

export function receiveNotice(state: SessionState, notice: Notice): void {
  if (notice.code === "recovered") markRecovered(state, notice.session_name ?? "");
  const id = noticeId(state, notice);
  if (notice.code === "auth_required") {
    const again = state.login?.trying === true;
    const { text, session_name } = notice;
    state.login = { turnId: state.lastTurn, sessionName: session_name ?? "", text, again, trying: false };
  }
  putLast(state, { kind: "notice", id, turnId: state.lastTurn, notice });
}

function noticeId({ lastTurn }: SessionState, { code, session_name, text }: Notice): string {
  // Of several attempts only the latest is of interest.
  const detail = code === "model_retry" ? "" : text;
  return ["notice", lastTurn ?? "", code, session_name ?? "", detail].join(":");
}

export function receiveError(state: SessionState, { turn_id, message }: EventData["error"]): void {
  if (turn_id == null) putLast(state, { kind: "error", id: `error:${state.lastTurn}:${message}`, message });
  else putEnding(state, { turnId: turn_id, state: "failed", text: message });
}

/** A snapshot has no errors: how a turn ended is all that tells of them. Live, both come. */
export function tellEnding(state: SessionState, { turn_id, state: ending, reason }: EventData["turn"]): void {
  if (ending === "completed" || ending === "running") return;
  if (ending !== "cancelled") {
    putEnding(state, { turnId: turn_id, state: ending, text: reason ?? "" });
  } else if (!state.ready) {
    const text = "This turn was stopped. What was done until then is kept.";
    receiveNotice(state, { code: "cancelled", level: "info", title: "Stopped", text });
  }
}

function putEnding(state: SessionState, ending: Pick<EndingEntry, "turnId" | "state" | "text">): void {
  const id = `ending:${ending.turnId}`;
  const known = state.entries.findLast((entry): entry is EndingEntry => entry.id === id);
  if (known) Object.assign(known, { state: ending.state, text: ending.text || known.text });
  else state.entries.push({ kind: "ending", id, ...ending });
}

function putLast(state: SessionState, entry: Entry): void {
  const known = state.entries.findLastIndex(({ id }) => id === entry.id);
  if (known >= 0) state.entries.splice(known, 1);
  state.entries.push(entry);
}

function markRecovered(state: SessionState, name: string): void {
  for (const call of Object.values(state.calls)) {
    if (isOpenDelegation(call) && sessionName(call) === name) call.recovered = true;
  }
}

/**
 * A login that is needed is asked for elsewhere; later it is of interest only where it is why a turn came to nothing. That an agent is
 * gone is said by the ending of the turn, where that ended with it.
 */
export function isShown(state: SessionState, { id, notice, turnId }: NoticeEntry): boolean {
  if (notice.code === "agent_gone") {
    const next = state.entries[state.entries.findLastIndex((entry) => entry.id === id) + 1];
    return (next?.kind !== "ending" || next.turnId !== turnId) && !isSaidByCard(state, id, notice);
  }
  if (notice.code === "model_retry") return isOpenRetry(state, id, turnId);
  if (notice.code !== "auth_required") return true;
  return state.entries.some(
    (entry) =>
      (entry.kind === "ending" && entry.turnId === turnId) ||
      (entry.kind === "notice" && entry.notice.code === "cancelled" && entry.turnId === turnId),
  );
}

/** The card of a call that its agent broke off says so itself. */
function isSaidByCard({ entries, calls }: SessionState, id: string, { session_name }: Notice): boolean {
  const at = entries.findLastIndex((entry) => entry.id === id);
  const isStart = (entry: Entry | undefined) => entry?.kind === "message" && entry.role === "user";
  let from = at;
  while (from > 0 && !isStart(entries[from])) from -= 1;
  let to = at;
  while (to < entries.length && !isStart(entries[to])) to += 1;
  return entries.slice(from, to).some((entry) => {
    const call = entry.kind === "call" ? calls[entry.id] : undefined;
    return call?.copilotDone?.stopReason === "interrupted" && sessionName(call) === session_name;
  });
}

/** That a model is asked again is of interest until it has answered, or has failed. */
function isOpenRetry({ entries, runningTurn }: SessionState, id: string, turnId: string | null): boolean {
  if (runningTurn === null || runningTurn !== turnId) return false;
  const at = entries.findLastIndex((entry) => entry.id === id);
  return entries.slice(at + 1).every((entry) => entry.kind === "notice");
}

export function endLogin(state: SessionState): void {
  if (state.login !== null) state.login = null;
}

/** The id of the agent to log in; null where it is the session's own. */
export function loginAgent({ login, calls }: SessionState): string | null {
  const waits = (call: StreamingToolCall) => isDelegation(call) && sessionName(call) === login?.sessionName;
  const call = Object.values(calls).findLast(waits);
  return call ? namedAgent(call) : null;
}

/** An agent that works is logged in; another one may still wait. */
export function endLoginOf(state: SessionState, callId: string): void {
  const call = state.calls[callId];
  if (call && state.login !== null && loginAgent(state) === namedAgent(call)) endLogin(state);
}

/** After a snapshot: a login is needed only while a prompt of the running turn waits for it. */
export function checkLogin(state: SessionState): void {
  if (state.login === null) return;
  const waits = Object.values(state.calls).some(isOpenDelegation);
  if (!waits || state.runningTurn === null || state.runningTurn !== state.login.turnId) endLogin(state);
}
