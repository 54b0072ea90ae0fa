import { expect, it } from "vitest";
import type { StreamEvent } from "../api/types";
import { emptyState } from "../state/model";
import { apply } from "../state/reducer";
import { callSpan, heardSpan, spokenSpan } from "./rawSpans";

const began = Date.parse("2026-01-01T00:00:00Z");

function toldBy(events: [kind: "text" | "thought" | "call", at_ms: number][]) {
  const state = emptyState(0);
  const of = { tool_call_id: "relay_1", session_name: "main" };
  const at = (ms: number) => new Date(began + ms).toISOString();
  apply(state, { event: "tool-call", data: { id: "relay_1", name: "copilot_agent", arguments: "{}" } }, at(0));
  let offset = 0;
  for (const [kind, ms] of events) {
    const times = { at_ms: began + ms };
    const updates: Record<typeof kind, StreamEvent> = {
      text: { event: "copilot-delta", data: { ...of, offset, content: "words" } },
      thought: { event: "agent-update", data: { ...of, offset, update: { type: "thought", text: "hm" }, times } },
      call: { event: "agent-update", data: { ...of, offset, update: { type: "tool_call", id: "c" }, times } },
    };
    apply(state, updates[kind], at(ms));
    if (kind === "text") offset += 5;
  }
  const done = { ...of, agent: "demo", summary: "", stop_reason: "end_turn" };
  apply(state, { event: "copilot-done", data: done }, at(60_000));
  return state.calls.relay_1 as NonNullable<(typeof state.calls)[string]>;
}

it("closing words are looked for from the last thing done before them on", () => {
  const call = toldBy([
    ["text", 1_000],
    ["thought", 10_000],
    ["call", 20_000],
    ["text", 25_000],
  ]);
  expect(spokenSpan([call])).toEqual({ from_ms: began + 19_500, until_ms: began + 62_000 });
  expect(callSpan(call)).toEqual({ from_ms: began - 2_000, until_ms: began + 62_000 });
  const thought = call.copilotStream?.parts.find((part) => part.type === "thought");
  expect(thought?.type === "thought" && thought.heard && heardSpan(thought.heard)).toEqual({
    from_ms: began + 9_500,
    until_ms: began + 10_000,
  });
  expect(spokenSpan([toldBy([["thought", 5_000]])])).toBeNull();
  expect(spokenSpan([{ ...call, id: "call_1" }]), "a model said it").toBeNull();
});
