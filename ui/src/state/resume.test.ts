import { expect, it } from "vitest";
import type { EventData, StreamEvent } from "../api/types";
import { type EndingEntry, emptyState, type SessionState } from "./model";
import { apply } from "./reducer";
import { isTold, resume } from "./resume";

type Ending = Extract<EventData["turn"]["state"], "failed" | "interrupted" | "unknown">;

function fold(events: StreamEvent[], state = emptyState(0)): SessionState {
  for (const event of events) apply(state, event);
  return state;
}

const time = "2026-01-01T00:00:00Z";
const asked: StreamEvent = {
  event: "message",
  data: { id: "m", role: "user", content: "@api do it", created_at: time, turn_id: "t" },
};
const ended = (state: Ending): StreamEvent => ({ event: "turn", data: { turn_id: "t", state, reason: "why" } });
const delegation = (session_name: string, stop_reason: string): StreamEvent[] => [
  { event: "tool-call", data: { id: "c", name: "copilot_agent", arguments: JSON.stringify({ session_name }) } },
  { event: "copilot-done", data: { tool_call_id: "c", session_name, summary: "", stop_reason } },
  { event: "tool-result", data: { id: "c", name: "copilot_agent", content: "", is_error: true } },
];
const offer = (state: SessionState, isRelay = true) =>
  resume(
    state,
    state.entries.findLast((entry): entry is EndingEntry => entry.kind === "ending") as EndingEntry,
    isRelay,
  );

it("an agent that was interrupted can go on, in the session it was in", () => {
  const state = fold([asked, ...delegation("api", "interrupted"), ended("failed")]);
  expect(offer(state)).toEqual({ goOn: "@api Continue with what you were doing.", again: "@api do it" });
  expect(offer(state, false)?.goOn).toBe("Continue with what you were doing.");
});

it("the main session is not named", () => {
  const state = fold([asked, ...delegation("main", "interrupted"), ended("interrupted")]);
  expect(offer(state)?.goOn).toBe("Continue with what you were doing.");
});

it("a turn of unknown outcome can go on or be sent again", () => {
  expect(offer(fold([asked, ended("unknown")]))).toEqual({
    goOn: "Check whether what you did last was done, and then continue with what you were doing.",
    again: "@api do it",
  });
});

it("where no agent was interrupted there is nothing to go on with", () => {
  const state = fold([asked, ...delegation("api", "end_turn"), ended("failed")]);
  expect(offer(state)).toEqual({ goOn: null, again: "@api do it" });
});

it("an agent that was not allowed something has not been interrupted", () => {
  const state = fold([asked, ...delegation("api", "denied"), ended("failed")]);
  expect(offer(state)).toEqual({ goOn: null, again: "@api do it" });
});

it("nothing is offered while something runs or waits, or for an earlier turn", () => {
  const base = [asked, ...delegation("api", "interrupted"), ended("interrupted")];
  const next: StreamEvent = { event: "turn", data: { turn_id: "u", state: "running" } };
  expect(offer(fold([...base, next]))).toBeNull();
  expect(offer(fold([...base, next, { event: "turn", data: { turn_id: "u", state: "completed" } }]))).toBeNull();
  const item = { message_id: "q", turn_id: "q", content: "later", created_at: time };
  expect(offer(fold([...base, { event: "queue", data: { items: [item] } }]))).toBeNull();
});

it("an agent that is missing is told of once, in its own card", () => {
  const text = "the agent cannot be started: `nowhere` was not found";
  const failed: StreamEvent[] = [
    asked,
    { event: "tool-call", data: { id: "c", name: "copilot_agent", arguments: "{}" } },
    { event: "tool-result", data: { id: "c", name: "copilot_agent", content: text, is_error: true } },
    { event: "error", data: { turn_id: "t", code: "agent", message: text } },
  ] as StreamEvent[];
  const state = fold([...failed, { event: "turn", data: { turn_id: "t", state: "failed", reason: text } }]);
  const ending = state.entries.filter((entry): entry is EndingEntry => entry.kind === "ending");
  expect(ending).toHaveLength(1);
  expect(ending[0] && isTold(state, ending[0])).toBe(true);
  const other = fold([asked, ...delegation("api", "end_turn"), ended("failed")]);
  const lone = other.entries.find((entry): entry is EndingEntry => entry.kind === "ending");
  expect(lone && isTold(other, lone)).toBe(false);
});
