import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { gather_ms, Hub } from "./hub";
import { lane_silence_ms } from "./lane";
import { createParser, type Frame } from "./sse";
import { FakeServer } from "./testing/fakeServer";
import { FakeTab } from "./testing/fakeTab";

let server: FakeServer;
let hub: Hub;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
  vi.stubGlobal("fetch", server.fetch);
  hub = new Hub();
});
afterEach(() => {
  hub.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const settle = (ms = 3 * gather_ms) => vi.advanceTimersByTimeAsync(ms);

describe("frames", () => {
  it("are read from pieces that are cut anywhere", () => {
    const text =
      'session: s\nid: 4\nevent: notice\ndata: {"a":\ndata: 1}\n\n: a comment\n\nevent: keepalive\r\ndata: {}\r\n\r\n';
    for (let cut = 1; cut < text.length; cut++) {
      const frames: Frame[] = [];
      const parse = createParser((frame) => frames.push(frame));
      parse(text.slice(0, cut));
      parse(text.slice(cut));
      expect(frames).toEqual([
        { event: "notice", data: '{"a":\n1}', id: "4", session: "s" },
        { event: "keepalive", data: "{}", id: "", session: null },
      ]);
    }
  });
});

describe("one stream", () => {
  it("serves all tabs, whatever they look at", async () => {
    const tabs = Array.from({ length: 20 }, (_, at) => new FakeTab(hub, `s${at}`));
    await settle();
    expect(server.open.length).toBe(1);
    for (const tab of tabs) server.add(tab.session, "hello");
    await settle();
    for (const tab of tabs) expect(tab.heard).toEqual(["hello"]);
    expect(server.mostOpen).toBeLessThanOrEqual(4);
  });

  it("twenty tabs of one session each get their snapshot, and every event once", async () => {
    server.add("s", "before");
    const first = new FakeTab(hub, "s");
    await settle();
    const others = Array.from({ length: 19 }, () => new FakeTab(hub, "s"));
    for (let at = 0; at < 30; at++) {
      server.add("s", `e${at}`);
      await settle(10);
    }
    await settle(2_000);
    server.add("s", "after");
    await settle();
    const all = ["before", ...Array.from({ length: 30 }, (_, at) => `e${at}`), "after"];
    for (const tab of [first, ...others]) expect(tab.heard).toEqual(all);
    expect(server.open.length).toBe(1);
    expect(server.mostOpen).toBeLessThanOrEqual(4);
  });

  it("a tab goes on behind what it has, also when others are further", async () => {
    for (const text of ["a", "b", "c"]) server.add("s", text);
    const first = new FakeTab(hub, "s");
    await settle();
    const late = new FakeTab(hub, "s", 1);
    const even = new FakeTab(hub, "s", 3);
    await settle(500);
    server.add("s", "d");
    await settle();
    expect(first.heard).toEqual(["a", "b", "c", "d"]);
    expect(late.heard).toEqual(["b", "c", "d"]);
    expect(even.heard).toEqual(["d"]);
    expect(server.open.length).toBe(1);
  });

  it("a tab that comes in the middle of a snapshot disturbs nobody", async () => {
    server.add("big", "x");
    server.holdSnapshots = true;
    const first = new FakeTab(hub, "big");
    await settle();
    const second = new FakeTab(hub, "big");
    const other = new FakeTab(hub, "other");
    await settle();
    server.add("big", "y");
    server.releaseSnapshots();
    await settle(500);
    server.add("other", "z");
    await settle();
    expect(first.heard).toEqual(["x", "y"]);
    expect(second.heard).toEqual(["x", "y"]);
    expect(other.heard).toEqual(["z"]);
  });

  it("whoever has caught up makes room for the next, also where nothing else happens", async () => {
    server.add("big", "x");
    server.holdSnapshots = true;
    const first = new FakeTab(hub, "big");
    await settle();
    const early = [new FakeTab(hub, "big"), new FakeTab(hub, "big")];
    await settle();
    // The shared stream begins anew, behind those that catch up.
    const other = new FakeTab(hub, "other");
    await settle();
    server.releaseSnapshots();
    await settle(500);
    const late = new FakeTab(hub, "big");
    await settle(500);
    for (const tab of [first, ...early, late]) expect(tab.heard).toEqual(["x"]);
    expect(other.heard).toEqual([]);
    expect(server.open.length).toBe(1);
  });

  it("drops what nobody follows, and ends when nobody is left", async () => {
    const one = new FakeTab(hub, "a");
    const two = new FakeTab(hub, "b");
    await settle();
    one.leave();
    await settle(2_000);
    expect(server.open.map(({ sessions }) => sessions)).toEqual([["b"]]);
    two.close();
    await settle(2_000);
    expect(server.open.length).toBe(0);
  });

  it("carries the page's key", async () => {
    new FakeTab(hub, "s");
    await settle();
    expect(server.asked[0]?.key).toBe("the key");
  });
});

describe("when it breaks", () => {
  it("every tab is told, and nothing is lost or doubled over a restart of the server", async () => {
    const tabs = ["a", "a", "b"].map((session) => new FakeTab(hub, session));
    await settle(500);
    for (const session of ["a", "b"]) server.add(session, "1");
    await settle();
    server.down = true;
    server.breakAll();
    for (const session of ["a", "b"]) server.add(session, "2");
    await settle(3_000);
    expect(tabs.every((tab) => !tab.connected)).toBe(true);
    server.down = false;
    await settle(12_000);
    for (const session of ["a", "b"]) server.add(session, "3");
    await settle();
    for (const tab of tabs) expect(tab.heard).toEqual(["1", "2", "3"]);
    expect(tabs.every((tab) => tab.connected)).toBe(true);
  });

  it("a session that is gone ends for its tabs, and the others go on", async () => {
    const gone = new FakeTab(hub, "gone");
    const other = new FakeTab(hub, "other");
    server.deleted.add("gone");
    await settle();
    expect(gone.refused).toBe(true);
    server.add("other", "still here");
    await settle();
    expect(other.heard).toEqual(["still here"]);
  });

  it("a stream that says nothing for too long is dead", async () => {
    const tab = new FakeTab(hub, "s");
    await settle();
    server.isSilent = true;
    await settle(lane_silence_ms + 1_000);
    expect(server.asked.length).toBeGreaterThan(1);
    expect(tab.refused).toBe(false);
  });

  it("an answer that is no stream says so", async () => {
    server.status = 401;
    const tab = new FakeTab(hub, "s", null, false);
    await settle();
    expect(tab.refused).toBe(true);
  });

  it("more sessions than one stream may have are followed alone", async () => {
    const tabs = Array.from({ length: 65 }, (_, at) => new FakeTab(hub, `s${at}`));
    await settle();
    expect(tabs.map(({ alone }) => alone).lastIndexOf(false)).toBe(63);
    expect(tabs[64]?.alone).toBe(true);
  });
});

describe("rows", () => {
  it("come to those who want them, and need no session", async () => {
    const tab = new FakeTab(hub, "");
    tab.rows(true);
    await settle();
    server.row({ id: "s" });
    await settle();
    expect(tab.rowsHeard).toEqual(["open", '{"id":"s"}']);
    tab.rows(false);
    await settle(2_000);
    expect(server.open.length).toBe(0);
  });

  it("come while the stream is opened anew, and the list is read again once it is: what was on its way may be lost", async () => {
    const tab = new FakeTab(hub, "");
    tab.rows(true);
    await settle();
    server.isSlow = true;
    new FakeTab(hub, "s");
    await settle();
    server.row({ id: "x" });
    server.isSlow = false;
    await settle();
    expect(tab.rowsHeard).toEqual(["open", '{"id":"x"}', "open"]);
    expect(server.open.length).toBe(1);
  });

  it("come at once to a tab that wants them while the stream is opened anew", async () => {
    const first = new FakeTab(hub, "");
    first.rows(true);
    await settle();
    server.isSlow = true;
    new FakeTab(hub, "s");
    await settle();
    const late = new FakeTab(hub, "");
    late.rows(true);
    await settle();
    server.row({ id: "a" });
    await settle();
    expect(late.rowsHeard).toEqual(["open", '{"id":"a"}']);
    server.isSlow = false;
    await settle();
  });

  it("are asked for again when the stream broke", async () => {
    const tab = new FakeTab(hub, "");
    tab.rows(true);
    await settle();
    server.breakAll();
    await settle(1_000);
    expect(tab.rowsHeard).toEqual(["open", "closed", "open"]);
  });
});
