import { expect, it } from "vitest";
import type { Row } from "../api/types";
import { grouped, neighbour, nextWaiting, runningText, sinceText, statusOf, whenText } from "./rows";

const now = new Date("2026-11-16T14:06:00");

function row(id: string, fields: Partial<Row> = {}): Row {
  const at = "2026-11-16T11:20:00";
  return {
    id,
    title: id,
    work_dir: "/w",
    model: "main",
    agent: "demo",
    created_at: at,
    updated_at: at,
    running: false,
    queue_len: 0,
    waiting: 0,
    pinned: false,
    archived: false,
    muted: false,
    unseen: false,
    rules: 0,
    question_protected: false,
    waited_ms: 0,
    ...fields,
  };
}

it("what waits comes first, what runs next, and groups without a session vanish", () => {
  const rows = [
    row("old", { updated_at: "2026-11-10T10:00:00" }),
    row("today"),
    row("pinned", { pinned: true, updated_at: "2026-01-01T10:00:00" }),
    row("runs", { running: true }),
    row("asks", { running: true, waiting: 2, pinned: true }),
  ];
  const groups = grouped(rows, now);
  expect(groups.map(({ name, ids }) => [name, ...ids])).toEqual([
    ["Needs you", "asks"],
    ["Running", "runs"],
    ["Pinned", "pinned"],
    ["Today", "today"],
    ["Earlier", "old"],
  ]);
  expect(grouped([row("today")], now).map(({ name }) => name)).toEqual(["Today"]);
  expect(neighbour(groups, "runs", 1)).toBe("pinned");
  expect(neighbour(groups, "asks", -1)).toBeUndefined();
  expect(neighbour(groups, null, 1)).toBe("asks");
  expect(nextWaiting(groups, "today")).toBe("asks");
  expect(nextWaiting(groups, "asks")).toBe("asks");
  expect(nextWaiting([], "asks")).toBeUndefined();
});

it.each<[string, Partial<Row>, string]>([
  ["a question outweighs the work", { running: true, waiting: 1 }, "waiting"],
  ["work outweighs how it ended before", { running: true, ending: "failed" }, "running"],
  ["done and not seen", { ending: "completed", unseen: true }, "done"],
  ["done and seen", { ending: "completed", unseen: false }, "seen"],
  ["failed, seen or not", { ending: "failed", unseen: false }, "failed"],
  ["interrupted", { ending: "interrupted" }, "interrupted"],
  ["its agent crashed", { ending: "crashed" }, "failed"],
  ["its agent is not signed in", { ending: "needs_sign_in" }, "waiting"],
  ["its agent’s session is in use elsewhere", { ending: "in_use" }, "unknown"],
  ["its agent was not allowed what it wanted", { ending: "declined", unseen: true }, "seen"],
  ["nobody knows how it ended", { ending: "unknown" }, "unknown"],
  ["stopped by somebody, who knows it", { ending: "stopped", unseen: true }, "seen"],
  ["a server that says nothing of it", {}, "seen"],
])("%s", (_, fields, status) => {
  expect(statusOf(row("s", fields))).toBe(status);
});

it("times are short: the hour today, the day this week, the date before", () => {
  expect(whenText("2026-11-16T11:20:00", now)).toBe("11:20");
  expect(whenText("2026-11-13T11:20:00", now)).toBe("Fri");
  expect(whenText("2026-11-09T11:20:00", now)).toBe("9 Nov");
  expect(whenText("2025-11-09T11:20:00", now)).toBe("9 Nov 2025");
  expect(whenText("never", now)).toBe("");
  const at = now.getTime();
  expect(sinceText("2026-11-16T14:05:29", at)).toBe("31 s");
  expect(sinceText("2026-11-16T14:02:00", at)).toBe("4 min");
  expect(sinceText("2026-11-16T11:02:00", at)).toBe("3 h");
  expect(sinceText(null, at)).toBe("");
});

it("the time of what runs is that of the work", () => {
  const since = "2026-11-16T14:00:00";
  const at = (time: string) => Date.parse(time);
  const answered = row("a", { running: true, running_since: since, waited_ms: 240_000 });
  expect(runningText(answered, at("2026-11-16T14:05:00"))).toBe("1 min");
  const waiting = row("b", { running: true, running_since: since, waiting_since: "2026-11-16T14:00:31" });
  expect(runningText(waiting, at("2026-11-16T14:05:00"))).toBe("31 s");
});
