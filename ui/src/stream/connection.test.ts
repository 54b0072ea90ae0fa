import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StreamEvent } from "../api/types";
import { Connection, first_delay_ms, longest_delay_ms, rest_ms, silence_limit_ms } from "./connection";
import { FakeEventSource, fakeSources } from "./testing/fakeEventSource";

let sources: ReturnType<typeof fakeSources>;
let received: StreamEvent[];
let snapshots: number;
let states: boolean[];
let refused: number;
let outcome: "ok" | "gap";
let connection: Connection;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", FakeEventSource);
  sources = fakeSources();
  received = [];
  snapshots = 0;
  states = [];
  refused = 0;
  outcome = "ok";
  connection = new Connection({
    url: (after) => (after === null ? "/stream" : `/stream?after=${after}`),
    onSnapshot: () => void snapshots++,
    onEvent: (event) => {
      received.push(event);
      return outcome;
    },
    onConnected: (connected) => states.push(connected),
    onRefused: () => void refused++,
    createSource: sources.create,
  });
});

afterEach(() => {
  connection.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const notice = (text: string) => ({ code: "c", level: "info", title: "", text });
const texts = () => received.flatMap((event) => (event.event === "notice" ? [event.data.text] : []));

function goLive(seq = 10): FakeEventSource {
  const source = sources.latest();
  source.emit("ready", { seq }, seq);
  return source;
}

describe("coming back", () => {
  it("starts with a snapshot and goes on behind the last event that it saw", () => {
    expect(sources.latest().url).toBe("/stream");
    const source = goLive(10);
    source.emit("notice", notice("a"), 11);
    source.emit("notice", notice("b"), 12);
    source.break();
    vi.advanceTimersByTime(first_delay_ms);
    expect(sources.latest().url).toBe("/stream?after=12");
    expect(snapshots).toBe(1);
  });

  it("closes a broken stream, so that the browser does not come back too", () => {
    const source = goLive();
    source.break();
    expect(source.readyState).toBe(FakeEventSource.CLOSED);
    source.emit("notice", notice("late"), 11);
    expect(texts()).toEqual([]);
  });

  it("waits longer each time, and not at all longer once it was heard", () => {
    goLive().break();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      const count = sources.all.length;
      let waited = 0;
      while (sources.all.length === count) {
        vi.advanceTimersByTime(100);
        waited += 100;
      }
      waits.push(waited);
      sources.latest().break();
    }
    expect(waits).toEqual([200, 400, 800, 1600, 3200, longest_delay_ms, longest_delay_ms, longest_delay_ms]);
    vi.advanceTimersByTime(longest_delay_ms);
    sources.latest().emit("keepalive", {});
    sources.latest().break();
    const count = sources.all.length;
    vi.advanceTimersByTime(first_delay_ms);
    expect(sources.all.length).toBe(count + 1);
  });

  it("a snapshot that broke off is asked for again", () => {
    sources.latest().emit("notice", notice("half"));
    sources.latest().break();
    vi.advanceTimersByTime(first_delay_ms);
    expect(sources.latest().url).toBe("/stream");
    expect(snapshots).toBe(2);
  });

  it("comes back after an error status, and says that it was refused", () => {
    sources.latest().refuse();
    expect(refused).toBe(1);
    vi.advanceTimersByTime(first_delay_ms);
    expect(sources.all.length).toBe(2);
  });

  it("does not wait when the network is back", () => {
    goLive().break();
    window.dispatchEvent(new Event("online"));
    expect(sources.all.length).toBe(2);
    vi.advanceTimersByTime(longest_delay_ms);
    expect(sources.all.length).toBe(2);
  });

  it("does not wait when somebody looks at the page again", () => {
    goLive().break();
    document.dispatchEvent(new Event("visibilitychange"));
    expect(sources.all.length).toBe(2);
  });

  it("leaves a healthy stream alone when somebody looks at the page again", () => {
    goLive();
    document.dispatchEvent(new Event("visibilitychange"));
    expect(sources.all.length).toBe(1);
  });

  it("stays away once it is closed", () => {
    goLive().break();
    connection.close();
    vi.advanceTimersByTime(longest_delay_ms);
    window.dispatchEvent(new Event("online"));
    expect(sources.all.length).toBe(1);
  });
});

describe("silence", () => {
  it("a stream that says nothing for too long is opened again", () => {
    goLive(10);
    vi.advanceTimersByTime(silence_limit_ms);
    expect(sources.all.length).toBe(2);
    expect(sources.latest().url).toBe("/stream?after=10");
    expect(states.at(-1)).toBe(false);
  });

  it("a keepalive is enough to be heard", () => {
    const source = goLive();
    for (let count = 0; count < 5; count++) {
      vi.advanceTimersByTime(silence_limit_ms - 1_000);
      source.emit("keepalive", {});
    }
    expect(sources.all.length).toBe(1);
    expect(received.map((event) => event.event)).toEqual(["ready"]);
  });
});

describe("events", () => {
  it("a gap leads to a fresh snapshot", () => {
    const source = goLive(10);
    outcome = "gap";
    source.emit("notice", notice("x"), 15);
    outcome = "ok";
    vi.advanceTimersByTime(first_delay_ms);
    expect(sources.latest().url).toBe("/stream");
    expect(snapshots).toBe(2);
  });

  it("reset starts a snapshot on the same stream, whose events are not taken for old ones", () => {
    const source = goLive(10);
    source.emit("reset", {});
    expect(snapshots).toBe(2);
    source.emit("notice", notice("in the snapshot"));
    source.emit("ready", { seq: 3 }, 3);
    source.emit("notice", notice("live"), 4);
    expect(texts()).toEqual(["in the snapshot", "live"]);
    source.break();
    vi.advanceTimersByTime(first_delay_ms);
    expect(sources.latest().url).toBe("/stream?after=4");
  });

  it("an event that was seen is not given out again", () => {
    const source = goLive(10);
    source.emit("notice", notice("a"), 11);
    source.emit("notice", notice("b"), 12);
    source.emit("notice", notice("a again"), 11);
    expect(texts()).toEqual(["a", "b"]);
  });

  it("an event named error is an event, not a broken connection", () => {
    const source = goLive();
    source.emit("error", { code: "model", message: "no" }, 11);
    expect(received.at(-1)).toEqual({ event: "error", data: { code: "model", message: "no" } });
    vi.advanceTimersByTime(longest_delay_ms);
    expect(sources.all.length).toBe(1);
  });

  it("data that is not JSON is left alone", () => {
    const source = goLive();
    source.dispatchEvent(new MessageEvent("notice", { data: "{", lastEventId: "11" }));
    expect(received.length).toBe(1);
  });
});

describe("a hidden page", () => {
  const look = (state: DocumentVisibilityState) => {
    vi.spyOn(document, "visibilityState", "get").mockReturnValue(state);
    document.dispatchEvent(new Event("visibilitychange"));
  };

  it("stops listening after a while, and goes on behind what it has when somebody looks", () => {
    const source = goLive(10);
    look("hidden");
    source.emit("notice", notice("a"), 11);
    vi.advanceTimersByTime(rest_ms);
    expect(source.readyState).toBe(FakeEventSource.CLOSED);
    vi.advanceTimersByTime(10 * silence_limit_ms);
    window.dispatchEvent(new Event("online"));
    expect(sources.all.length).toBe(1);
    expect(states.at(-1)).toBe(true);
    look("visible");
    expect(sources.latest().url).toBe("/stream?after=11");
  });

  it("that is looked at again soon has missed nothing", () => {
    const source = goLive(10);
    look("hidden");
    vi.advanceTimersByTime(rest_ms / 2);
    look("visible");
    vi.advanceTimersByTime(rest_ms);
    expect(sources.latest()).toBe(source);
    expect(source.readyState).toBe(FakeEventSource.OPEN);
  });

  it("catches up when it is told that something waits, and rests again", () => {
    goLive(10);
    look("hidden");
    vi.advanceTimersByTime(rest_ms);
    connection.look();
    expect(sources.latest().url).toBe("/stream?after=10");
    vi.advanceTimersByTime(rest_ms);
    expect(sources.latest().readyState).toBe(FakeEventSource.CLOSED);
  });
});
