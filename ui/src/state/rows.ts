// Where a session stands in the list, and what its row says.

import type { Row } from "../api/types";
import { endingDots } from "../kit/endingDots";
import type { Status } from "../kit/small";

export type GroupName = "Needs you" | "Running" | "Pinned" | "Today" | "Earlier";

export interface Group {
  name: GroupName;
  ids: string[];
}

const order: GroupName[] = ["Needs you", "Running", "Pinned", "Today", "Earlier"];

/** The groups that have something in them, each in the order of the list. */
export function grouped(rows: readonly Row[], now = new Date()): Group[] {
  const groups = new Map<GroupName, string[]>(order.map((name) => [name, []]));
  for (const row of rows) groups.get(groupOf(row, now))?.push(row.id);
  return order.flatMap((name) => {
    const ids = groups.get(name) ?? [];
    return ids.length === 0 ? [] : [{ name, ids }];
  });
}

function groupOf(row: Row, now: Date): GroupName {
  if (row.waiting > 0) return "Needs you";
  if (row.running) return "Running";
  if (row.pinned) return "Pinned";
  return isSameDay(new Date(row.updated_at), now) ? "Today" : "Earlier";
}

function isSameDay(a: Date, b: Date): boolean {
  return a.toDateString() === b.toDateString();
}

/** Its dot. What was seen has none, unless it still wants something done about it. */
export function statusOf(row: Row): Status {
  if (row.waiting > 0) return "waiting";
  if (row.running) return "running";
  const dot = row.ending ? endingDots[row.ending] : "seen";
  return dot === "seen" && row.unseen && row.ending === "completed" ? "done" : dot;
}

const week_ms = 6 * 24 * 3_600_000;

/** When something was last heard of it: a time today, a day this week, a date before that. */
export function whenText(time: string, now = new Date()): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return "";
  if (isSameDay(at, now)) return at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (now.getTime() - at.getTime() < week_ms) return at.toLocaleDateString("en-GB", { weekday: "short" });
  const year = at.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
  return at.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...year });
}

/** How long its turn has been at work: what it waited for somebody is left out. */
export function runningText(row: Row, now = Date.now()): string {
  const since = Date.parse(row.running_since ?? "") + row.waited_ms;
  const until = Date.parse(row.waiting_since ?? "");
  return Number.isNaN(since) ? "" : sinceText(new Date(since).toISOString(), Number.isNaN(until) ? now : until);
}

/** How long something has been going on, in the one unit that matters. */
export function sinceText(time: string | null | undefined, now = Date.now()): string {
  const at = Date.parse(time ?? "");
  if (Number.isNaN(at)) return "";
  const s = Math.max(0, Math.floor((now - at) / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3_600) return `${Math.floor(s / 60)} min`;
  return s < 86_400 ? `${Math.floor(s / 3_600)} h` : `${Math.floor(s / 86_400)} d`;
}

/** The one before or after it in the list; the first or last from nowhere. */
export function neighbour(groups: readonly Group[], id: string | null, step: 1 | -1): string | undefined {
  const ids = groups.flatMap((group) => group.ids);
  const at = id === null ? -1 : ids.indexOf(id);
  if (at < 0) return step > 0 ? ids[0] : ids.at(-1);
  return ids[at + step];
}

/** The next that waits for somebody, behind the one that is open. */
export function nextWaiting(groups: readonly Group[], id: string | null): string | undefined {
  const ids = groups.find(({ name }) => name === "Needs you")?.ids ?? [];
  const at = id === null ? -1 : ids.indexOf(id);
  return ids[(at + 1) % Math.max(1, ids.length)];
}
