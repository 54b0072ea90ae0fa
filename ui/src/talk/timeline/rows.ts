// What an agent said and did, as the rows of a timeline: neighbours of a kind are one row, and so are the thoughts beside them.

import type { AgentToolCall, PermissionRequest, PlanEntry } from "../../api/types";
import type { ApprovedPart, Flow, Part, ThoughtPart, UpdatePart } from "../../state/flow";
import { readCommand } from "../callText";
import { changesOf } from "./hunks";

export interface WorkRow {
  kind: "work";
  id: string;
  calls: UpdatePart[];
  thoughts: ThoughtPart[];
  /** A plan of one step says nothing that the work does not say. */
  plan: PlanEntry[];
  /** What the policy allowed by itself. */
  approved: ApprovedPart[];
}

/** Something that waits for an answer. The question itself is in the dock. */
export interface WaitRow {
  kind: "wait";
  id: string;
  request: PermissionRequest;
  /** What it is about, where the agent has told of it. */
  call: AgentToolCall | null;
}

export interface PartRow {
  kind: "part";
  id: string;
  part: Part;
}

export type Row = WorkRow | WaitRow | PartRow;

const ended = ["completed", "failed", "rejected", "declined", "cancelled", "interrupted"];

export function isRunning(call: AgentToolCall): boolean {
  return !ended.includes(call.status ?? "");
}

export function isDeclined(call: AgentToolCall): boolean {
  return call.status === "declined" || call.status === "rejected";
}

/** It was stopped, or its agent ended, while it waited for an answer. */
function isWithdrawn(call: AgentToolCall): boolean {
  return call.status === "cancelled" && call.declined_by != null;
}

/** It never began. */
export function isUnbegun(call: AgentToolCall): boolean {
  return isDeclined(call) || isWithdrawn(call);
}

/** A change that is not in the file, or something that never began: it has a row of its own, and does not count. */
export function isUnapplied(call: AgentToolCall): boolean {
  const isChange = changing.has(call.kind ?? "") || changesOf(call).length > 0;
  return isUnbegun(call) || (isChange && (call.status === "failed" || call.status === "cancelled"));
}

const changing = new Set(["edit", "delete", "move"]);

export function callOf(part: Part): AgentToolCall | null {
  return part.type === "update" && part.update.type === "tool_call" ? part.update : null;
}

/** The calls that were not allowed, by the agent's ids: what the agent says of them afterwards does not count. */
export function declinedCalls(flow: Flow | null): Set<string> {
  const ids = new Set<string>();
  for (const part of flow?.parts ?? []) {
    if (part.type === "update" && part.update.type === "denied" && part.update.agent_call)
      ids.add(part.update.agent_call);
  }
  return ids;
}

/** The call as it is, where logs of earlier versions know of a refusal that the call itself does not mention. */
export function truthOf(call: AgentToolCall, declined: Set<string>): AgentToolCall {
  return declined.has(call.id) && !isDeclined(call) ? { ...call, status: "declined" } : call;
}

/** Looking and doing are two kinds. */
const looks = ["read", "search", "fetch", "think"];
const isLook = (call: AgentToolCall) => looks.includes(call.kind ?? "");

export interface RowsOptions {
  running: boolean;
  /** What waits for an answer in this delegation. */
  asks?: readonly PermissionRequest[];
}

export function rowsOf(flow: Flow | null, { running, asks = [] }: RowsOptions): Row[] {
  const rows: Row[] = [];
  const parts = flow?.parts ?? [];
  const declined = declinedCalls(flow);
  /** What a rule has denied is told once, with the way to the rule. */
  const byRule = new Set(
    parts.map((part) =>
      part.type === "update" && part.update.type === "denied" && part.update.by === "rule"
        ? part.update.agent_call
        : null,
    ),
  );
  const known = new Set(parts.map((part) => part.id));
  const waiting = running ? asks : [];
  const told = new Set<string>();
  /** The row that what comes next may join. */
  const open = (): WorkRow | undefined => {
    const last = rows.at(-1);
    return last?.kind === "work" && !last.calls.some(stands) ? last : undefined;
  };
  const stands = (part: UpdatePart) => {
    const call = truthOf(part.update as AgentToolCall, declined);
    return (running && isRunning(call)) || isUnapplied(call);
  };
  const fresh = (id: string): WorkRow => {
    const row: WorkRow = { kind: "work", id: `work:${id}`, calls: [], thoughts: [], plan: [], approved: [] };
    rows.push(row);
    return row;
  };
  /** What has no row to join begins one, which the next call may join. */
  const beside = (id: string) => {
    const row = open();
    return row && !showsChange(row) ? row : fresh(id);
  };
  for (const [index, part] of parts.entries()) {
    const call = callOf(part);
    if (call !== null) {
      if (byRule.has(call.id) && call.kind === "execute") continue;
      const request = waiting.find((ask) => ask.agent_call === call.id);
      if (request) {
        told.add(request.request_id);
        rows.push({ kind: "wait", id: `wait:${request.request_id}`, request, call });
        continue;
      }
      const row = open();
      const joins = row && !stands(part as UpdatePart) && fits(row, call);
      (joins ? row : fresh(part.id)).calls.push(part as UpdatePart);
    } else if (part.type === "thought") {
      const isLive = running && index === parts.length - 1;
      if (isLive) rows.push({ kind: "part", id: part.id, part });
      else beside(part.id).thoughts.push(part);
    } else if (part.type === "update" && part.update.type === "plan" && part.update.entries.length <= 1) {
      if (part.update.entries.length === 1) beside(part.id).plan.push(...part.update.entries);
    } else if (part.type === "approved" && part.approvals.every(({ by }) => by === "policy")) {
      (ofApproval(rows) ?? fresh(part.id)).approved.push(part);
    } else {
      // The call that was not allowed says so itself, but not what was wrong with the request.
      const denied = part.type === "update" && part.update.type === "denied" ? part.update : null;
      const of = denied?.malformed || denied?.by === "rule" ? null : denied?.agent_call;
      if (!(of && known.has(`call:${of}`)) && !isAnswered(part, parts.length - 1 > index, running))
        rows.push({ kind: "part", id: part.id, part });
    }
  }
  for (const request of waiting) {
    if (!told.has(request.request_id) && !isInGroup(parts, request))
      rows.push({ kind: "wait", id: `wait:${request.request_id}`, request, call: null });
  }
  return rows;
}

/** Where it is told what was allowed: with the work, and not where it would lie between a change and what is said of it. */
function ofApproval(rows: Row[]): WorkRow | undefined {
  const from = rows.findLastIndex((row) => row.kind === "part" && row.part.type === "text");
  const work = rows.slice(from + 1).filter((row) => row.kind === "work");
  return work.findLast((row) => !showsChange(row)) ?? work.at(-1);
}

/** That an agent's model is asked again is of interest until it has answered, or has failed. */
function isAnswered(part: Part, isFollowed: boolean, running: boolean): boolean {
  const retry = part.type === "update" && part.update.type === "notice" ? part.update.retry : null;
  return retry != null && !retry.anew && (isFollowed || !running);
}

function isInGroup(parts: Part[], { agent_call }: PermissionRequest): boolean {
  return parts.some((part) => part.type === "group" && part.parts.some((inner) => callOf(inner)?.id === agent_call));
}

/** A single change is open to be seen: what is beside it would hide it. */
function showsChange(row: WorkRow): boolean {
  const [only] = row.calls;
  return row.calls.length === 1 && only !== undefined && changesOf(only.update as AgentToolCall).length > 0;
}

function fits(row: WorkRow, call: AgentToolCall): boolean {
  const last = row.calls.at(-1);
  if (!last) return changesOf(call).length === 0;
  return isLook(last.update as AgentToolCall) === isLook(call);
}

/**
 * The row that stands beside the agent's name: all that it did before it spoke, or what it thought before anything else. Where more is
 * to be told, it is told below.
 */
export function leadOf(rows: Row[]): WorkRow | null {
  const [first] = rows;
  if (
    first?.kind !== "work" ||
    showsChange(first) ||
    first.calls.some(({ update }) => isUnapplied(update as AgentToolCall))
  )
    return null;
  const others = rows.slice(1).some((row) => row.kind !== "part" || row.part.type !== "text");
  return !others || first.calls.length === 0 ? first : null;
}

export interface Words {
  text: string;
  /** What is typed or named as it stands. */
  code: string;
}

/** One call in words; `path` takes the work directory away. */
export function callWords(call: AgentToolCall, running: boolean, path: (text: string) => string): Words {
  const is = running && isRunning(call);
  const command = readCommand(call.input);
  if (call.kind === "execute" && command) {
    const verb = is ? "Running" : isUnbegun(call) ? "Not run" : "Ran";
    return { text: verb, code: firstLine(command) };
  }
  const changes = changesOf(call);
  if (changes.length > 0) {
    const files = new Set(changes.map((change) => change.path));
    const verb = is ? "Editing" : isUnapplied(call) ? "Not applied" : "Edited";
    if (files.size > 1) return { text: `${verb}${isUnapplied(call) ? ":" : ""} ${files.size} files`, code: "" };
    return { text: verb, code: path(changes[0]?.path ?? "") };
  }
  const places = call.locations ?? [];
  if (call.kind === "read" && places.length === 1 && places[0]) {
    const verb = is ? "Reading" : isUnbegun(call) ? "Not read" : "Read";
    return { text: verb, code: path(places[0].path) };
  }
  const title = path(call.title ?? "") || command || call.kind || "Tool call";
  if (!isUnapplied(call)) return { text: title, code: "" };
  return { text: changing.has(call.kind ?? "") ? "Not applied" : "Not run", code: title };
}

function firstLine(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line === text.trimEnd() ? line : `${line} …`;
}

/** Several calls in words: "Edited 3 files, ran 1 command". */
export function mergedWords(calls: AgentToolCall[]): string {
  const done = calls.filter((call) => !isUnapplied(call));
  const files = (kind: string) => {
    const own = done.filter((call) => call.kind === kind);
    const named = own.flatMap((call) => [
      ...changesOf(call).map((change) => change.path),
      ...(call.locations ?? []).map((place) => place.path),
    ]);
    return Math.max(new Set(named).size, own.length > 0 ? 1 : 0, named.length === 0 ? own.length : 0);
  };
  const times = (kind: string) => done.filter((call) => call.kind === kind).length;
  const known = ["read", "search", "fetch", "edit", "delete", "move", "execute", "think"];
  const others = done.filter((call) => !known.includes(call.kind ?? "")).length;
  const count = (status: string) => calls.filter((call) => call.status === status).length;
  const parts = [
    plural(files("read"), "read %n file", "read %n files"),
    plural(times("search"), "searched once", "searched %n times"),
    plural(times("fetch"), "fetched %n page", "fetched %n pages"),
    plural(times("think"), "thought once", "thought %n times"),
    plural(files("edit"), "edited %n file", "edited %n files"),
    plural(files("delete"), "deleted %n file", "deleted %n files"),
    plural(files("move"), "moved %n file", "moved %n files"),
    plural(times("execute"), "ran %n command", "ran %n commands"),
    plural(others, "used %n tool", "used %n tools"),
    plural(count("failed"), "%n failed", "%n failed"),
    plural(count("cancelled"), "%n stopped", "%n stopped"),
  ].filter(Boolean);
  return capital(parts.join(", "));
}

const capital = (words: string) => words.slice(0, 1).toUpperCase() + words.slice(1);

function plural(count: number, one: string, many: string): string {
  return count === 0 ? "" : (count === 1 ? one : many).replace("%n", String(count));
}

/** Below this nobody waited for a thought. */
const short_ms = 1_000;

/** How long it thought, in ms; 0 where that is not known. */
export function thoughtMs(thoughts: ThoughtPart[]): number {
  return thoughts.reduce((sum, { heard }) => sum + (heard ? Math.max(0, heard.to - heard.from) : 0), 0);
}

/** What was done beside the calls: how long it thought, where that was worth a word. */
export function besideWords(row: WorkRow, span: (ms: number) => string): string {
  const ms = thoughtMs(row.thoughts);
  return ms >= short_ms ? `thought for ${span(ms)}` : "";
}

/** A row without a call. */
export function thoughtWords(row: WorkRow, span: (ms: number) => string): string {
  const beside = besideWords(row, span);
  if (row.thoughts.length > 0) return capital(beside) || "Thought";
  return row.plan.length > 0 ? "Planned 1 step" : "Allowed automatically";
}

/** Nothing goes on in a plan whose agent has ended, whatever was told of it last. */
export function stepStatus(entry: PlanEntry, running: boolean): string {
  return entry.status === "in_progress" && !running ? "stopped" : entry.status;
}

export function planOf(flow: Flow | null): PlanEntry[] {
  const part = flow?.parts.findLast((part) => part.type === "update" && part.update.type === "plan");
  return part?.type === "update" && part.update.type === "plan" ? part.update.entries : [];
}

/** All calls of the flow, as they truly are. */
export function callsOf(flow: Flow | null): AgentToolCall[] {
  const declined = declinedCalls(flow);
  const all = (flow?.parts ?? []).flatMap((part) => {
    if (part.type === "group") return part.parts.flatMap((inner) => callOf(inner) ?? []);
    return callOf(part) ?? [];
  });
  return all.map((call) => truthOf(call, declined));
}
