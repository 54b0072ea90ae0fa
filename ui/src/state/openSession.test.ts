import { createRoot } from "solid-js";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { StreamEvent } from "../api/types";
import { longest_delay_ms } from "../stream/connection";
import { FakeEventSource, fakeSources } from "../stream/testing/fakeEventSource";
import { emptyState } from "./model";
import { type OpenSession, openSession } from "./openSession";
import { apply } from "./reducer";
import { makeLog, seeded } from "./testing/log";
import { snapshotOf } from "./testing/snapshot";
import { viewOf } from "./testing/view";

let sources: ReturnType<typeof fakeSources>;
let open: OpenSession;
let disposeRoot = () => {};

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", FakeEventSource);
  vi.stubGlobal("fetch", async () => new Response('{"error":{"code":"not_found","message":"no"}}', { status: 404 }));
  sources = fakeSources();
  createRoot((dispose) => {
    disposeRoot = dispose;
    open = openSession("s", sources.create);
  });
});
afterEach(() => {
  open.close();
  disposeRoot();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const deliver = (events: StreamEvent[], firstSeq?: number) => {
  events.forEach(({ event, data }, index) => {
    sources.latest().emit(event, data as never, firstSeq === undefined ? undefined : firstSeq + index);
  });
};

function viewOfLog(log: StreamEvent[]) {
  const state = emptyState(0);
  for (const event of [{ event: "ready", data: { seq: 0 } } as StreamEvent, ...log]) apply(state, event);
  return viewOf(state);
}

it("breaks at any point, with and without a cursor, lose and double nothing", () => {
  const log = makeLog(seeded(11), 4);
  const random = seeded(99);
  let seen = 0;
  deliver(snapshotOf([]));
  while (seen < log.length) {
    const next = Math.min(log.length, seen + 1 + Math.floor(random() * 9));
    deliver(log.slice(seen, next), seen + 1);
    seen = next;
    if (random() < 0.5) {
      // The server no longer keeps what follows.
      sources.latest().emit("reset", {});
      deliver(snapshotOf(log.slice(0, seen)));
    } else {
      sources.latest().break();
      vi.advanceTimersByTime(10_000);
      expect(sources.latest().url).toContain(`after=${seen}`);
    }
  }
  expect(viewOf(open.state)).toEqual(viewOfLog(log));
});

it("the page stays as it is until a snapshot is whole", () => {
  const log = makeLog(seeded(5));
  deliver(snapshotOf(log));
  const before = viewOf(open.state);
  expect(before.entries.length).toBeGreaterThan(0);
  sources.latest().emit("reset", {});
  const fresh = snapshotOf([...log, { event: "notice", data: { code: "c", level: "info", title: "", text: "" } }]);
  for (const event of fresh.slice(0, -1)) {
    deliver([event]);
    expect(viewOf(open.state)).toEqual(before);
  }
  const entry = open.state.entries[0];
  deliver(fresh.slice(-1));
  expect(viewOf(open.state)).toEqual(before);
  // What did not change is still the same entry, so its part of the page is not drawn again.
  expect(open.state.entries[0]).toBe(entry);
});

it("only a break that lasts is mentioned", () => {
  deliver(snapshotOf([]));
  sources.latest().break();
  vi.advanceTimersByTime(900);
  expect(open.broken()).toBeNull();
  vi.advanceTimersByTime(200);
  expect(open.broken()).toEqual({ since: expect.any(Date), tries: 0 });
  const { since } = open.broken() ?? {};
  sources.latest().break();
  vi.advanceTimersByTime(longest_delay_ms);
  sources.latest().break();
  expect(open.broken()).toEqual({ since, tries: 2 });
  vi.advanceTimersByTime(longest_delay_ms);
  sources.latest().open();
  expect(open.broken()).toBeNull();
});

it("a session that was deleted elsewhere is gone", async () => {
  sources.latest().refuse();
  await vi.advanceTimersByTimeAsync(0);
  expect(open.gone()).toBe(true);
});
