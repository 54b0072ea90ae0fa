// What the end of a conversation comes to: another text as soon as something new is there. Cheap enough to be asked with every piece.

import type { Entry, SessionState } from "../state/model";

export function tailOf(state: SessionState): string {
  const marks: string[] = [];
  for (let at = state.entries.length - 1; at >= 0; at -= 1) {
    const entry = state.entries[at] as Entry;
    marks.push(markOf(state, entry));
    if (entry.kind === "message" && entry.role === "user") break;
  }
  return marks.join("|");
}

function markOf({ calls }: SessionState, entry: Entry): string {
  if (entry.kind === "message") return `${entry.id}:${entry.text.length}`;
  if (entry.kind !== "call") return entry.id;
  const flow = calls[entry.id]?.copilotStream;
  return `${entry.id}:${flow?.length ?? 0}:${flow?.parts.length ?? 0}:${calls[entry.id]?.result !== null}`;
}
