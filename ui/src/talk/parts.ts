// The parts of a conversation that many conversations do without. They are loaded when one of its entries needs them, and the
// first sight of it waits for them; what comes later finds them here.

import { later } from "../kit/later";
import type { Entry, SessionState, StreamingToolCall } from "../state/model";
import { isStraight } from "../state/straight";
import { startedWith } from "./groups";
import { isRare, RareUpdate, SubAgent } from "./timeline/rare";

export const AgentGroup = later(async () => (await import("./AgentGroup")).AgentGroup);
export const ToolCallBlock = later(async () => (await import("./cards")).ToolCallBlock);
export const Ending = later(async () => (await import("./Ending")).Ending);
export const EndingFoot = later(async () => (await import("./EndingFoot")).EndingFoot);
export const SentFiles = later(async () => (await import("./SentFiles")).SentFiles);

const all = [AgentGroup, ToolCallBlock, Ending, EndingFoot, SentFiles, RareUpdate, SubAgent];

type Part = { preload(): Promise<unknown> };

/** What draws an entry and is not here from the start. */
function partsOf(entry: Entry, index: number, state: SessionState): Part[] {
  if (entry.kind === "ending") return [Ending];
  if (entry.kind === "message") return entry.attachments.length > 0 ? [SentFiles] : [];
  const call = entry.kind === "call" ? state.calls[entry.id] : undefined;
  const reason = call?.copilotDone?.stopReason ?? "end_turn";
  return [
    ...(call && !isStraight(call) ? [ToolCallBlock] : []),
    ...(call && startedWith(state.entries, index, state.calls) ? [AgentGroup] : []),
    ...(hasRare(call) ? [RareUpdate] : []),
    ...(call?.copilotStream?.parts.some((part) => part.type === "group") ? [SubAgent] : []),
    ...(reason !== "end_turn" || state.login !== null ? [EndingFoot] : []),
  ];
}

const hasRare = (call: StreamingToolCall | undefined) =>
  call?.copilotStream?.parts.some((part) => part.type === "update" && isRare(part.update)) ?? false;

/** Loads what these entries need; null if that is nothing. */
export function loadParts(state: SessionState): Promise<unknown> | null {
  const needed = new Set(state.entries.flatMap((entry, index) => partsOf(entry, index, state)));
  return needed.size === 0 ? null : Promise.all([...needed].map((part) => part.preload()));
}

/** Loads the others too, for what comes. */
export function loadAllParts(): void {
  for (const part of all) void part.preload();
}
