// What can be offered to somebody whose last turn did not end well.

import { sessionName } from "./delegation";
import type { EndingEntry, MessageEntry, SessionState, StreamingToolCall } from "./model";
import { wholeText } from "./text";

const continue_text = "Continue with what you were doing.";
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
  const start = state.entries.findLastIndex((entry) => isStart(entry, ending.turnId));
  const first = state.entries[start];
  const again = first?.kind === "message" ? wholeText(first.text) : null;
  const broken = brokenCall(state, start);
  if (ending.state === "failed" && !broken) return again === null ? null : { goOn: null, again };
  const name = broken ? sessionName(broken) : main_session;
  return { goOn: isRelay && name !== main_session ? `@${name} ${continue_text}` : continue_text, again };
}

function isStart(entry: SessionState["entries"][number], turnId: string): entry is MessageEntry {
  return entry.kind === "message" && entry.role === "user" && entry.turnId === turnId;
}

/** The last call of the turn whose agent did not get to its end. */
function brokenCall(state: SessionState, start: number): StreamingToolCall | undefined {
  return state.entries
    .slice(start + 1)
    .flatMap((entry) => (entry.kind === "call" ? (state.calls[entry.id] ?? []) : []))
    .findLast((call) => call.name === "copilot_agent" && isBroken(call));
}

function isBroken(call: StreamingToolCall): boolean {
  const reason = call.copilotDone?.stopReason;
  return call.abandoned || reason === "interrupted" || reason === "unknown";
}
