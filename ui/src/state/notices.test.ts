import { describe, expect, it } from "vitest";
import type { Notice, StreamEvent } from "../api/types";
import { applyLoginTried } from "./local";
import { emptyState, type NoticeEntry, type SessionState, waitingCount } from "./model";
import { isShown, loginAgent } from "./notices";
import { apply } from "./reducer";

function fold(events: StreamEvent[], state = emptyState(0)): SessionState {
  for (const event of events) apply(state, event);
  return state;
}

const time = "2026-01-01T00:00:00Z";
const ready: StreamEvent = { event: "ready", data: { seq: 0 } };
const turn = (state: "running" | "completed" | "cancelled" | "interrupted", turn_id = "t"): StreamEvent => ({
  event: "turn",
  data: { turn_id, state },
});
const asked = (turn_id = "t"): StreamEvent => ({
  event: "message",
  data: { id: `of-${turn_id}`, role: "user", content: "do it", created_at: time, turn_id },
});
const notice = (code: string, fields: Partial<Notice> = {}): StreamEvent => ({
  event: "notice",
  data: { code, level: "error", title: code, text: "words", session_name: "n", ...fields },
});
const delegate: StreamEvent = {
  event: "tool-call",
  data: { id: "c", name: "copilot_agent", arguments: '{"session_name":"n"}' },
};
const says = (content: string): StreamEvent => ({
  event: "copilot-delta",
  data: { tool_call_id: "c", session_name: "n", offset: 0, content },
});
const kinds = (state: SessionState) =>
  state.entries.map((entry) => (entry.kind === "notice" ? entry.notice.code : entry.kind));

describe("notices", () => {
  it("stand in a snapshot behind the messages of their turn and before how it ended", () => {
    const state = fold([asked(), notice("session_lost"), turn("interrupted"), asked("u"), ready]);
    expect(kinds(state)).toEqual(["message", "session_lost", "ending", "message"]);
  });

  it("are the same entry whether they came live or in a snapshot", () => {
    const live = fold([ready, asked(), turn("running"), notice("session_lost"), turn("interrupted")]);
    const later = fold([asked(), notice("session_lost"), turn("interrupted"), ready]);
    expect(live.entries.map((entry) => entry.id)).toEqual(later.entries.map((entry) => entry.id));
  });

  it("of the same words in the same turn are one, at the latest place", () => {
    const state = fold([ready, asked(), turn("running"), notice("agent_gone"), delegate, notice("agent_gone")]);
    expect(kinds(state)).toEqual(["message", "call", "agent_gone"]);
    fold([turn("completed"), asked("u"), turn("running", "u"), notice("agent_gone")], state);
    expect(kinds(state)).toEqual(["message", "call", "agent_gone", "message", "agent_gone"]);
  });

  it("that an agent is gone are left to the ending of the turn that ended with it", () => {
    const gone = (events: StreamEvent[]) => {
      const state = fold([ready, asked(), turn("running"), notice("agent_gone"), ...events]);
      const told = state.entries.find((entry): entry is NoticeEntry => entry.kind === "notice");
      return told && isShown(state, told);
    };
    expect(gone([])).toBe(true);
    expect(gone([turn("completed")])).toBe(true);
    expect(gone([turn("interrupted")])).toBe(false);
  });

  it("about attempts show the latest one only", () => {
    const tries = [1, 2].map((count) => notice("model_retry", { text: `try ${count}` }));
    expect(kinds(fold([ready, asked(), turn("running"), ...tries]))).toEqual(["message", "model_retry"]);
  });

  it("that an agent was recovered mark its running call, and no other", () => {
    const other: StreamEvent = { event: "tool-call", data: { id: "d", name: "copilot_agent", arguments: "{}" } };
    const state = fold([ready, turn("running"), delegate, other, notice("recovered", { level: "info" })]);
    expect(state.calls.c?.recovered).toBe(true);
    expect(state.calls.d?.recovered).toBe(false);
  });
});

describe("a login", () => {
  const needed = notice("auth_required");

  it("is needed until the agent works, and counts as waiting for somebody", () => {
    const state = fold([ready, asked(), turn("running"), delegate, needed]);
    expect(state.login).toMatchObject({ text: "words", again: false, trying: false });
    expect(waitingCount(state)).toBe(1);
    applyLoginTried(state);
    expect(waitingCount(state)).toBe(0);
    expect(fold([says("hello")], state).login).toBeNull();
  });

  it("is for the agent whose prompt waits, whatever another one does meanwhile", () => {
    const data = { id: "d", name: "delegate", arguments: '{"agent":"demo","session_name":"docs"}' };
    const waits = notice("auth_required", { session_name: "docs" });
    const state = fold([ready, asked(), turn("running"), delegate, { event: "tool-call", data }, waits]);
    expect(loginAgent(state)).toBe("demo");
    expect(fold([says("hello")], state).login).not.toBeNull();
    const works = { tool_call_id: "d", session_name: "docs", offset: 0, content: "hi" };
    expect(fold([{ event: "copilot-delta", data: works }], state).login).toBeNull();
  });

  it("that did not help is asked for again", () => {
    const state = fold([ready, asked(), turn("running"), delegate, needed]);
    applyLoginTried(state);
    expect(fold([needed], state).login).toMatchObject({ again: true, trying: false });
  });

  it("is no longer needed when its turn is over", () => {
    const state = fold([ready, asked(), turn("running"), delegate, needed, turn("cancelled")]);
    expect(state.login).toBeNull();
  });

  it("is still needed after a reload while a prompt waits for it", () => {
    const snapshot = [asked(), needed, turn("running"), delegate, says("")];
    expect(fold([...snapshot, ready]).login).not.toBeNull();
    expect(fold([...snapshot, says("hello"), ready]).login).toBeNull();
  });

  it("of an earlier turn, or of a call that is over, is not needed after a reload", () => {
    expect(fold([asked(), needed, asked("u"), turn("running", "u"), delegate, ready]).login).toBeNull();
    expect(fold([asked(), needed, turn("running"), ready]).login).toBeNull();
    expect(fold([asked(), needed, ready]).login).toBeNull();
  });

  it("is told of later only where it is why a turn came to nothing", () => {
    const shown = (state: SessionState) =>
      state.entries.some((entry) => entry.kind === "notice" && isShown(state, entry) && entry.notice === needed.data);
    const waiting = [ready, asked(), turn("running"), delegate, needed];
    expect(shown(fold(waiting))).toBe(false);
    expect(shown(fold([...waiting, says("hello"), turn("completed")]))).toBe(false);
    expect(shown(fold([...waiting, turn("interrupted")]))).toBe(true);
    expect(shown(fold([asked(), needed, turn("cancelled"), ready]))).toBe(true);
  });
});
