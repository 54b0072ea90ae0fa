import { createRoot } from "solid-js";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { api } from "../api/client";
import type { Session } from "../api/types";
import type { RowListener } from "../stream/link";
import { createSessions, type Sessions } from "./sessions";

let heard: RowListener;
vi.mock("../stream/link", () => ({
  tabLink: () => ({
    hear(listener: RowListener) {
      heard = listener;
      return () => {};
    },
    wantRows: () => true,
  }),
}));

const row = (id: string, minute: number, fields: Partial<Session> = {}) =>
  ({ id, title: id, updated_at: `2026-01-01T00:${minute}:00Z`, archived: false, ...fields }) as Session;

type Page = { sessions: Session[]; next?: string };
/** Calls of the list that wait for their answer, the oldest first. */
let asked: ((page: Page) => void)[];
let sessions: Sessions;
let stop: () => void;
beforeEach(() => {
  asked = [];
  vi.spyOn(api, "sessions").mockImplementation(() => new Promise<Page>((resolve) => asked.push(resolve)) as never);
  createRoot((dispose) => {
    stop = dispose;
    sessions = createSessions();
  });
});
afterEach(() => {
  sessions.close();
  stop();
});

const settle = () => new Promise((resolve) => setTimeout(resolve));
async function answer(...rows: Session[]): Promise<void> {
  asked.shift()?.({ sessions: rows });
  await settle();
}
const ids = () => sessions.list.map(({ id }) => id);

it("a session that is told of while the first list is on its way is not lost", async () => {
  heard.onConnected(true);
  heard.onRow(row("new", 30));
  // Both were read before it was made.
  await answer(row("old", 10));
  await answer(row("old", 10));
  expect(ids()).toEqual(["new", "old"]);
});

it("a row does not keep the list away that says what was missed", async () => {
  await answer(row("a", 10));
  heard.onConnected(false);
  heard.onConnected(true);
  heard.onRow(row("a", 40, { title: "renamed" }));
  await answer(row("missed", 20), row("a", 10));
  expect(ids()).toEqual(["a", "missed"]);
  expect(sessions.list[0]?.title).toBe("renamed");
});

it("what was deleted while the list was on its way does not come back", async () => {
  await answer(row("a", 10), row("b", 5));
  void sessions.refresh();
  heard.onGone("a");
  expect(ids()).toEqual(["b"]);
  await answer(row("a", 10), row("b", 5));
  expect(ids()).toEqual(["b"]);
});

it("what was archived leaves the list, and what is too old for it does not enter", async () => {
  const page = Array.from({ length: 50 }, (_, at) => row(`s${at}`, 59 - at));
  asked.shift()?.({ sessions: page, next: "more" });
  await settle();
  heard.onRow(row("s0", 59, { archived: true }));
  expect(ids()).toEqual(page.slice(1).map(({ id }) => id));
  heard.onRow(row("ancient", 10, { updated_at: "2025-01-01T00:00:00Z" }));
  expect(ids()).not.toContain("ancient");
});

it("a list that was read before another was asked for is not shown", async () => {
  void sessions.refresh();
  const [first, second] = asked.splice(0);
  second?.({ sessions: [row("now", 2)] });
  await settle();
  first?.({ sessions: [row("before", 1)] });
  await settle();
  expect(ids()).toEqual(["now"]);
});
