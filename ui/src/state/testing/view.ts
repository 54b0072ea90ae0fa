// A session's state as a reader of the page sees it, free of how the pieces arrived. For tests only.

import type { Flow, UpdatePart } from "../flow";
import type { SessionState } from "../model";
import { wholeText } from "../text";

export function viewOf(state: SessionState) {
  return {
    entries: state.entries.map((entry) =>
      entry.kind === "message"
        ? { id: entry.id, role: entry.role, text: wholeText(entry.text), open: entry.streaming }
        : entry,
    ),
    calls: Object.fromEntries(
      // When something was heard of is no part of what was heard.
      Object.entries(state.calls).map(([id, { startedAt: _, endedAt: __, ...call }]) => [
        id,
        { ...call, copilotStream: call.copilotStream && viewOfFlow(call.copilotStream) },
      ]),
    ),
    turn: state.runningTurn,
    queue: state.queue,
    held: state.held,
    confirms: state.confirms,
    permissions: state.permissions,
  };
}

export function viewOfFlow(flow: Flow) {
  return flow.parts.map((part) => {
    if (part.type === "text") return wholeText(part.text);
    if (part.type === "group") return { agent: part.agent, calls: part.parts.map(viewOfUpdate) };
    if (part.type === "approved") return { approved: part.approvals.map(({ title }) => title) };
    return part.type === "thought" ? { thought: wholeText(part.text) } : viewOfUpdate(part);
  });
}

function viewOfUpdate({ update, output }: UpdatePart) {
  return output ? { ...update, stream: wholeText(output.text), stream_length: output.length } : update;
}
