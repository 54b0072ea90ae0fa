import { createStore, produce } from "solid-js/store";
import { describe, expect, it } from "vitest";
import type { Message, StreamEvent } from "../api/types";
import { flowText } from "./flow";
import { applyOlder } from "./local";
import { emptyState, findMessage, type SessionState } from "./model";
import { apply, type Outcome } from "./reducer";
import { makeLog, seeded } from "./testing/log";
import { snapshotOf } from "./testing/snapshot";
import { viewOf } from "./testing/view";
import { wholeText } from "./text";

const time = "2026-01-01T00:00:00Z";

function fold(events: StreamEvent[], state = emptyState(0)): SessionState {
  for (const event of events) expect(apply(state, event)).toBe("ok");
  return state;
}

const ready: StreamEvent = { event: "ready", data: { seq: 0 } };
const say = (offset: number, content: string): StreamEvent => ({
  event: "text-delta",
  data: { message_id: "m", offset, content },
});
const agentSays = (offset: number, content: string): StreamEvent => ({
  event: "copilot-delta",
  data: { tool_call_id: "c", session_name: "n", offset, content },
});
const delegate: StreamEvent = { event: "tool-call", data: { id: "c", name: "copilot_agent", arguments: "{}" } };
const turn = (state: "running" | "cancelled"): StreamEvent => ({ event: "turn", data: { turn_id: "t", state } });

describe("a log and its snapshots", () => {
  for (let seed = 1; seed <= 25; seed++) {
    it(`a client that joins at any point sees what one that was always there sees (seed ${seed})`, () => {
      const log = makeLog(seeded(seed));
      const whole = viewOf(fold([ready, ...log]));
      for (let cut = 0; cut <= log.length; cut++) {
        const joined = fold([...snapshotOf(log.slice(0, cut)), ...log.slice(cut)]);
        expect(viewOf(joined), `joined after ${cut} events`).toEqual(whole);
      }
    });
  }

  it("text cut into other pieces, repeated and overlapping, gives the same text", () => {
    const text = "naïve 😀 parser, 日本語 and back";
    for (let seed = 1; seed <= 200; seed++) {
      const random = seeded(seed);
      const state = fold([ready, delegate]);
      let known = 0;
      while (known < text.length) {
        const from = Math.floor(random() * (known + 1));
        const to = Math.min(text.length, from + 1 + Math.floor(random() * 8));
        expect(apply(state, agentSays(from, text.slice(from, to)))).toBe("ok");
        known = Math.max(known, to);
      }
      const flow = state.calls.c?.copilotStream;
      expect(flow && flowText(flow)).toBe(text);
    }
  });

  it("one of Solid's stores is folded like a plain object", () => {
    const log = makeLog(seeded(7));
    const [state, setState] = createStore(emptyState(0));
    for (const event of [ready, ...log]) setState(produce((draft) => void apply(draft, event)));
    expect(viewOf(state)).toEqual(viewOf(fold([ready, ...log])));
  });
});

describe("offsets", () => {
  it("a piece that is known already changes nothing", () => {
    const state = fold([say(0, "abc"), say(0, "abc"), say(1, "bc")]);
    expect(wholeText(findMessage(state, "m")?.text ?? { chunks: [], length: 0, version: 0 })).toBe("abc");
  });

  it("a piece that overlaps adds only its new end", () => {
    const state = fold([delegate, agentSays(0, "ab😀"), agentSays(2, "😀cd")]);
    expect(flowText(state.calls.c?.copilotStream ?? ({ parts: [] as never[] } as never))).toBe("ab😀cd");
  });

  it.each<[string, StreamEvent]>([
    ["message", say(4, "late")],
    ["agent", agentSays(4, "late")],
  ])("a piece behind a hole in the %s text is a gap and is not applied", (_, event) => {
    const state = fold([delegate, say(0, "abc"), agentSays(0, "abc")]);
    const before = structuredClone(viewOf(state));
    const outcome: Outcome = apply(state, event);
    expect(outcome).toBe("gap");
    expect(viewOf(state)).toEqual(before);
  });

  it("a message that begins in the middle is a gap", () => {
    expect(apply(emptyState(0), say(3, "x"))).toBe("gap");
  });
});

describe("events", () => {
  it("reset forgets everything", () => {
    const state = fold([...makeLog(seeded(3)), { event: "reset", data: {} }]);
    expect(viewOf(state)).toEqual(viewOf(emptyState(0)));
    expect(state.epoch).toBe(1);
  });

  it("the final text of a message decides over its pieces", () => {
    const message: Message = { id: "m", role: "assistant", content: "abcd", html: "<p>abcd</p>", created_at: time };
    const state = fold([say(0, "abX"), { event: "message", data: message }]);
    const entry = findMessage(state, "m");
    expect(entry).toMatchObject({ createdAt: time, streaming: false });
    expect(entry && wholeText(entry.text)).toBe("abcd");
  });

  it("a call that its turn leaves without a result is abandoned", () => {
    const state = fold([ready, turn("running"), delegate, turn("cancelled")]);
    expect(state.calls.c?.abandoned).toBe(true);
  });

  it("a turn that is announced again after a restart leaves its open calls running", () => {
    const state = fold([ready, turn("running"), delegate, turn("running")]);
    expect(state.calls.c?.abandoned).toBe(false);
  });

  it("a turn that is being stopped is running, and says so", () => {
    const stopping: StreamEvent = { event: "turn", data: { turn_id: "t", state: "running", reason: "cancelling" } };
    const state = fold([ready, turn("running"), delegate, stopping]);
    expect(state).toMatchObject({ runningTurn: "t", cancelling: true });
    expect(state.calls.c?.abandoned).toBe(false);
    expect(fold([turn("cancelled")], state)).toMatchObject({ runningTurn: null, cancelling: false });
  });

  it("a snapshot tells how a turn failed, and live its error tells it once", () => {
    const failed: StreamEvent = { event: "turn", data: { turn_id: "t", state: "failed", reason: "no answer" } };
    const error: StreamEvent = { event: "error", data: { turn_id: "t", code: "model", message: "no answer" } };
    const ending = { kind: "ending", id: "ending:t", turnId: "t", state: "failed", text: "no answer" };
    expect(fold([failed, ready]).entries).toEqual([ending]);
    expect(fold([ready, turn("running"), error, failed]).entries).toEqual([ending]);
  });

  it("what waited for an answer is gone when its turn is over", () => {
    const asks: StreamEvent = {
      event: "permission-request",
      data: { request_id: "p", tool_call_id: "c", session_name: "n", title: "run", options: [] },
    };
    const state = fold([ready, turn("running"), delegate, asks, turn("cancelled")]);
    expect(state.permissions).toEqual([]);
  });

  it("an artifact stands by itself until a call claims it", () => {
    const artifact: StreamEvent = {
      event: "review-artifact",
      data: {
        artifact_id: "a",
        title: "t",
        status: "pending",
        total_files: 0,
        total_additions: 0,
        total_deletions: 0,
        files: [],
      },
    };
    const call = { id: "d", name: "git_diff", arguments: "{}" };
    const state = fold([ready, { event: "tool-call", data: call }, artifact]);
    expect(state.entries.map((entry) => entry.kind)).toEqual(["call", "artifact"]);
    fold([{ event: "tool-result", data: { ...call, content: "", is_error: false, artifact_id: "a" } }], state);
    expect(state.entries.map((entry) => entry.kind)).toEqual(["call"]);
  });

  it("an event of a later version is left alone", () => {
    const event = { event: "from-the-future", data: {} } as unknown as StreamEvent;
    expect(apply(emptyState(0), event)).toBe("ok");
  });
});

describe("older messages", () => {
  it("go in front, and a call that the page border cut from its result becomes whole", () => {
    const call = { id: "c", name: "read_file", arguments: '{"path":"x"}' };
    const all: Message[] = [
      { id: "1", role: "user", content: "hi", created_at: time },
      { id: "2", role: "assistant", content: "look", created_at: time, tool_calls: [call] },
      { id: "3", role: "tool", content: "text", created_at: time, tool_call_id: "c" },
      { id: "4", role: "assistant", content: "bye", created_at: time },
    ];
    const events = all.map((data): StreamEvent => ({ event: "message", data }));
    const state = fold([...events.slice(2), ready]);
    applyOlder(state, all.slice(0, 2), false);
    expect(viewOf(state)).toEqual(viewOf(fold([...events, ready])));
    expect(state).toMatchObject({ oldestMessage: "1", moreBefore: false });
  });
});

it("the server's policy holds again where the session's is taken back; other fields are only left out", () => {
  const state = emptyState(0);
  apply(state, { event: "session", data: { title: "T", permission_policy: "ask" } });
  apply(state, { event: "session", data: { title: null, permission_policy: null } });
  expect(state.session).toEqual({ title: "T", permission_policy: null });
});
