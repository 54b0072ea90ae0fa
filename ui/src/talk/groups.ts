// Entries that are shown together with others.

import { isDelegation } from "../state/delegation";
import type { Entry, StreamingToolCall } from "../state/model";
import { isStraight } from "../state/straight";

type Calls = Record<string, StreamingToolCall>;

/**
 * The calls of agents that were started together with the one at `index`, where it is the first of several; null where it stands
 * alone, and empty where an earlier one shows it.
 */
export function startedWith(entries: Entry[], index: number, calls: Calls): string[] | null {
  const member = (entry: Entry | undefined) => {
    const call = entry?.kind === "call" ? calls[entry.id] : undefined;
    return call !== undefined && isDelegation(call) && !isStraight(call) ? call : undefined;
  };
  const isBeside = (at: number) => overlap(member(entries[at - 1]), member(entries[at]));
  if (!member(entries[index])) return null;
  if (isBeside(index)) return [];
  let end = index + 1;
  while (isBeside(end)) end += 1;
  return end - index > 1 ? entries.slice(index, end).map(({ id }) => id) : null;
}

/** Both were at work at the same time. One that began after the other's end is a step of its own. */
function overlap(first: StreamingToolCall | undefined, next: StreamingToolCall | undefined): boolean {
  if (!first || !next) return false;
  const [end, start] = [Date.parse(first.endedAt ?? ""), Date.parse(next.startedAt ?? "")];
  return Number.isNaN(end) || Number.isNaN(start) || start < end;
}
