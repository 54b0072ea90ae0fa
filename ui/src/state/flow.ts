// What an agent said and did, in order: its text, cut where something happened in between.

import type { Approval, Times, Update } from "../api/types";
import { addOutput, newOutput, type Output } from "./output";
import { append, newText, type TextStream, unseen, wholeText } from "./text";

export interface TextPart {
  type: "text";
  id: string;
  start: number;
  text: TextStream;
}

/** When something was first and last heard of, in ms since 1970. */
export interface Heard {
  from: number;
  to: number;
  /** How long of that somebody was waited for. */
  waited: number;
}

export interface ThoughtPart {
  type: "thought";
  id: string;
  offset: number;
  text: TextStream;
  heard: Heard | null;
}

/** Shown updates; what only describes the session is kept beside the flow. */
export type ShownUpdate = Exclude<
  Update,
  { type: "thought" | "tool_output" | "usage" | "title" | "commands" | "options" | "approved" }
>;

type Of<Kind extends Update["type"]> = Extract<Update, { type: Kind }>;

export interface UpdatePart {
  type: "update";
  id: string;
  offset: number;
  update: ShownUpdate;
  /** Of a tool call: what came of its output as a stream. */
  output: Output | null;
  /** Of a tool call or a plan. */
  heard: Heard | null;
}

/** The tool calls of a sub-agent, together where the first of them happened. */
export interface GroupPart {
  type: "group";
  id: string;
  offset: number;
  agent: string;
  parts: UpdatePart[];
}

/** What was allowed without a question, together as long as the agent says nothing in between. */
export interface ApprovedPart {
  type: "approved";
  id: string;
  offset: number;
  approvals: Approval[];
}

export type Part = TextPart | ThoughtPart | UpdatePart | GroupPart | ApprovedPart;

/** How full the agent's context is, and what its models have read and written. */
export interface Usage {
  used: number | null;
  size: number | null;
  input: number | null;
  output: number | null;
  total: number | null;
  thought: number | null;
  cachedRead: number | null;
  cachedWrite: number | null;
  /** What the agent's session has cost so far. */
  cost: Cost | null;
}

export interface Cost {
  amount: number;
  /** By its three letters. */
  currency: string;
}

export interface Flow {
  /** Of all the text, in UTF-16 code units. */
  length: number;
  parts: Part[];
  usage: Usage | null;
  title: string | null;
  version: number;
  /** How many parts were ever placed; makes ids. */
  placed: number;
}

export function newFlow(version: number): Flow {
  return { length: 0, parts: [], usage: null, title: null, version, placed: 0 };
}

/** Lays a piece of text at its offset; false if something before it is missing. */
export function addText(flow: Flow, offset: number, content: string): boolean {
  const fresh = unseen(flow.length, offset, content);
  if (fresh === null) return false;
  if (fresh === "") return true;
  const last = flow.parts.at(-1);
  if (last?.type === "text") append(last.text, fresh);
  else flow.parts.push(textPart(flow.length, newText(flow.version, fresh)));
  flow.length += fresh.length;
  return true;
}

/** Puts an update at its place in the text, or lays it over the earlier one that it replaces. */
export function addUpdate(flow: Flow, offset: number, update: Update, times?: Times): void {
  switch (update.type) {
    case "usage":
      flow.usage = readUsage(flow.usage, update);
      return;
    case "title":
      flow.title = update.title ?? null;
      return;
    case "commands":
    case "options":
      return;
    case "thought":
      think(flow, offset, update.text, times);
      return;
    case "tool_call":
      hear(report(flow, offset, update), times);
      return;
    case "tool_output":
      hear(print(flow, offset, update), times);
      return;
    case "approved":
      approve(flow, offset, update);
      return;
    case "compaction":
      compact(flow, offset, update);
      return;
    case "plan":
      hear(upsert(flow, offset, "plan", update), times);
      return;
    case "notice":
      // The notice of a retry is told anew as the repetition goes on.
      upsert(flow, offset, update.retry ? `retry:${update.retry.number}` : `update:${flow.placed}`, update);
      return;
    default:
      upsert(flow, offset, `update:${flow.placed}`, update);
  }
}

function hear(part: ThoughtPart | UpdatePart | undefined, times: Times | undefined): void {
  if (!part || times?.at_ms == null) return;
  const waited = times.waited_ms ?? part.heard?.waited ?? 0;
  part.heard = { from: part.heard?.from ?? times.since_ms ?? times.at_ms, to: times.at_ms, waited };
}

function think(flow: Flow, offset: number, content: string, times: Times | undefined): void {
  if (content === "") return;
  const index = openPlace(flow, offset);
  const before = flow.parts[index - 1];
  if (before?.type === "thought" && before.offset === offset) {
    append(before.text, content);
    hear(before, times);
    return;
  }
  const text = newText(flow.version, content);
  const part: ThoughtPart = { type: "thought", id: `thought:${flow.placed}`, offset, text, heard: null };
  hear(part, times);
  place(flow, index, part);
}

/** Joins the approvals right before it; the calls that they were for stand in between. */
function approve(flow: Flow, offset: number, { type: _, ...approval }: Of<"approved">): void {
  const index = openPlace(flow, offset);
  const before = flow.parts.slice(0, index).findLast((part) => !isWork(part));
  if (before?.type === "approved") before.approvals.push(approval);
  else place(flow, index, { type: "approved", id: `approved:${flow.placed}`, offset, approvals: [approval] });
}

function isWork(part: Part): boolean {
  return part.type === "group" || (part.type === "update" && part.update.type === "tool_call");
}

function upsert(flow: Flow, offset: number, id: string, update: ShownUpdate): UpdatePart {
  const known = flow.parts.find((part) => part.id === id);
  if (known?.type !== "update") {
    place(flow, openPlace(flow, offset), { type: "update", id, offset, update, output: null, heard: null });
    return flow.parts.find((part): part is UpdatePart => part.id === id) as UpdatePart;
  }
  known.update = update;
  return known;
}

/** A report of a tool call says all but its stream, which it holds only where it was stored, and then perhaps not to its end. */
function report(flow: Flow, offset: number, update: Of<"tool_call">): UpdatePart | undefined {
  const { stream, stream_length, ...call } = update;
  if (call.parent) upsertInGroup(flow, offset, call.parent, call);
  else upsert(flow, offset, `call:${call.id}`, call);
  const part = findCall(flow, call.id);
  const length = stream_length ?? 0;
  if (part && stream != null && length > (part.output?.length ?? 0)) {
    part.output = newOutput((part.output?.text.version ?? flow.version) + 1, stream, length);
  }
  return part;
}

/** Output of a call that was never reported makes one to belong to. */
function print(flow: Flow, offset: number, update: Of<"tool_output">): UpdatePart | undefined {
  const part = findCall(flow, update.id) ?? report(flow, offset, { type: "tool_call", id: update.id });
  if (!part) return;
  part.output ??= newOutput(flow.version);
  addOutput(part.output, update.offset, update.content);
  return part;
}

function findCall(flow: Flow, id: string): UpdatePart | undefined {
  return flow.parts
    .flatMap((part) => (part.type === "group" ? part.parts : part.type === "update" ? [part] : []))
    .find((part) => part.id === `call:${id}`);
}

function upsertInGroup(flow: Flow, offset: number, agent: string, update: Of<"tool_call">): void {
  const id = `agent:${agent}`;
  const callId = `call:${update.id}`;
  // It printed before it was known whose it is.
  const loose = flow.parts.findIndex((part) => part.id === callId);
  const earlier = loose >= 0 ? flow.parts.splice(loose, 1)[0] : undefined;
  if (!flow.parts.some((part) => part.id === id)) {
    place(flow, openPlace(flow, offset), { type: "group", id, offset, agent, parts: [] });
  }
  const group = flow.parts.find((part) => part.id === id);
  if (group?.type !== "group") return;
  const known = group.parts.find((part) => part.id === callId);
  const { output, heard } = earlier?.type === "update" ? earlier : { output: null, heard: null };
  if (known) known.update = update;
  else group.parts.push({ type: "update", id: callId, offset, update, output, heard });
}

/** A report that leaves something out says nothing of it. */
function readUsage(before: Usage | null, update: Of<"usage">): Usage {
  return {
    used: update.used ?? before?.used ?? null,
    size: update.size ?? before?.size ?? null,
    input: update.input_tokens ?? before?.input ?? null,
    output: update.output_tokens ?? before?.output ?? null,
    total: update.total_tokens ?? before?.total ?? null,
    thought: update.thought_tokens ?? before?.thought ?? null,
    cachedRead: update.cached_read_tokens ?? before?.cachedRead ?? null,
    cachedWrite: update.cached_write_tokens ?? before?.cachedWrite ?? null,
    cost: readCost(update.cost) ?? before?.cost ?? null,
  };
}

/** The agent's own words, so anything may come. */
function readCost(cost: unknown): Cost | null {
  const { amount, currency } = (cost ?? {}) as Partial<Record<keyof Cost, unknown>>;
  if (typeof amount !== "number" || !Number.isFinite(amount) || amount < 0) return null;
  return typeof currency === "string" && /^[A-Z]{3}$/.test(currency) ? { amount, currency } : null;
}

/** A later report of a compaction mentions what changed; a piece of its summary continues the earlier ones. */
function compact(flow: Flow, offset: number, update: Of<"compaction">): void {
  const id = `compaction:${update.id}`;
  const known = flow.parts.find((part) => part.id === id);
  const before = known?.type === "update" && known.update.type === "compaction" ? known.update : undefined;
  const summary = update.appends
    ? `${before?.summary ?? ""}${update.summary ?? ""}`
    : (update.summary ?? before?.summary ?? null);
  upsert(flow, offset, id, {
    ...update,
    status: update.status ?? before?.status ?? null,
    error: update.error ?? before?.error ?? null,
    summary,
    appends: false,
  });
}

function place(flow: Flow, index: number, part: Part): void {
  flow.parts.splice(index, 0, part);
  flow.placed += 1;
}

/** Where in the parts something at `offset` belongs: after all that is there already; cuts the text if need be. */
function openPlace(flow: Flow, offset: number): number {
  let index = flow.parts.length;
  while (index > 0 && startsBehind(flow.parts[index - 1], offset)) index -= 1;
  const before = flow.parts[index - 1];
  if (before?.type === "text" && before.start + before.text.length > offset) {
    const content = wholeText(before.text);
    const cut = offset - before.start;
    // Both halves are new parts, so that the view draws them anew.
    flow.parts.splice(
      index - 1,
      1,
      textPart(before.start, newText(flow.version, content.slice(0, cut))),
      textPart(offset, newText(flow.version, content.slice(cut))),
    );
  }
  return index;
}

function startsBehind(part: Part | undefined, offset: number): boolean {
  if (part === undefined) return false;
  return part.type === "text" ? part.start >= offset : part.offset > offset;
}

function textPart(start: number, text: TextStream): TextPart {
  return { type: "text", id: `text:${start}`, start, text };
}

export function flowText(flow: Flow): string {
  return flow.parts.map((part) => (part.type === "text" ? wholeText(part.text) : "")).join("");
}
