// What an agent said and did, as the rows of a timeline: neighbours of a kind are one row.

import type { AgentToolCall, PlanEntry } from "../../api/types";
import type { Flow, Part, UpdatePart } from "../../state/flow";
import { readCommand } from "../callText";
import { changesOf } from "./hunks";

export interface WorkRow {
  kind: "work";
  id: string;
  calls: UpdatePart[];
}

export interface PartRow {
  kind: "part";
  id: string;
  part: Part;
}

export type Row = WorkRow | PartRow;

const ended = ["completed", "failed", "rejected", "declined", "cancelled", "interrupted"];

export function isRunning(call: AgentToolCall): boolean {
  return !ended.includes(call.status ?? "");
}

export function isDeclined(call: AgentToolCall): boolean {
  return call.status === "declined" || call.status === "rejected";
}

function callOf(part: Part): AgentToolCall | null {
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

/** Looking and doing are two kinds. */
const looks = ["read", "search", "fetch", "think"];
const kindOf = (call: AgentToolCall) => looks.includes(call.kind ?? "");

export function rowsOf(flow: Flow | null, running: boolean): Row[] {
  const rows: Row[] = [];
  const declined = declinedCalls(flow);
  const known = new Set((flow?.parts ?? []).map((part) => part.id));
  for (const part of flow?.parts ?? []) {
    const call = callOf(part);
    if (call === null) {
      // The call that was not allowed says so itself, but not what was wrong with the request.
      const denied = part.type === "update" && part.update.type === "denied" ? part.update : null;
      const of = denied?.malformed ? null : denied?.agent_call;
      if (!(of && known.has(`call:${of}`))) rows.push({ kind: "part", id: part.id, part });
      continue;
    }
    const last = rows.at(-1);
    const stands = (running && isRunning(call)) || isDeclined(call) || declined.has(call.id);
    const before = last?.kind === "work" ? last.calls.at(-1) : undefined;
    const other = before ? callOf(before) : null;
    const joins =
      !stands &&
      other !== null &&
      !isDeclined(other) &&
      !declined.has(other.id) &&
      !(running && isRunning(other)) &&
      kindOf(other) === kindOf(call);
    if (joins && last?.kind === "work") last.calls.push(part as UpdatePart);
    else rows.push({ kind: "work", id: `work:${part.id}`, calls: [part as UpdatePart] });
  }
  return rows;
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
  if (call.kind === "execute" && command) return { text: is ? "Running" : "Ran", code: firstLine(command) };
  const changes = changesOf(call);
  if (changes.length > 0) {
    const files = new Set(changes.map((change) => change.path));
    const verb = is ? "Editing" : "Edited";
    if (files.size > 1) return { text: `${verb} ${files.size} files`, code: "" };
    return { text: verb, code: path(changes[0]?.path ?? "") };
  }
  const places = call.locations ?? [];
  if (call.kind === "read" && places.length === 1 && places[0]) {
    return { text: is ? "Reading" : "Read", code: path(places[0].path) };
  }
  return { text: path(call.title ?? "") || command || call.kind || "Tool call", code: "" };
}

function firstLine(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line === text.trimEnd() ? line : `${line} …`;
}

/** Several calls in words: "Edited 3 files, ran 1 command". */
export function mergedWords(calls: AgentToolCall[]): string {
  const files = (kind: string) => {
    const own = calls.filter((call) => call.kind === kind);
    const named = own.flatMap((call) => [
      ...changesOf(call).map((change) => change.path),
      ...(call.locations ?? []).map((place) => place.path),
    ]);
    return Math.max(new Set(named).size, own.length > 0 ? 1 : 0, named.length === 0 ? own.length : 0);
  };
  const times = (kind: string) => calls.filter((call) => call.kind === kind).length;
  const known = ["read", "search", "fetch", "edit", "delete", "move", "execute", "think"];
  const others = calls.filter((call) => !known.includes(call.kind ?? "")).length;
  const failed = calls.filter((call) => call.status === "failed").length;
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
    plural(failed, "%n failed", "%n failed"),
  ].filter(Boolean);
  const words = parts.join(", ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function plural(count: number, one: string, many: string): string {
  return count === 0 ? "" : (count === 1 ? one : many).replace("%n", String(count));
}

/** Nothing goes on in a plan whose agent has ended, whatever was told of it last. */
export function stepStatus(entry: PlanEntry, running: boolean): string {
  return entry.status === "in_progress" && !running ? "stopped" : entry.status;
}

export function planOf(flow: Flow | null): PlanEntry[] {
  const part = flow?.parts.findLast((part) => part.type === "update" && part.update.type === "plan");
  return part?.type === "update" && part.update.type === "plan" ? part.update.entries : [];
}

export function callsOf(flow: Flow | null): AgentToolCall[] {
  return (flow?.parts ?? []).flatMap((part) => {
    if (part.type === "group") return part.parts.flatMap((inner) => callOf(inner) ?? []);
    return callOf(part) ?? [];
  });
}
