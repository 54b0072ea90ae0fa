import { expect, it } from "vitest";
import type { StreamEvent } from "../api/types";
import { emptyState, type SessionState } from "../state/model";
import { apply } from "../state/reducer";
import { isRepetition } from "../state/straight";
import { startedWith } from "./groups";
import { endsTurn, turnOf } from "./turns";

const time = "2026-01-01T00:00:00Z";

/** A turn in which agents say what their sessions have cost so far. */
function turn(id: string, costs: Record<string, unknown>): StreamEvent[] {
  const said: StreamEvent = {
    event: "message",
    data: { id: `m-${id}`, role: "user", content: "go", created_at: time, turn_id: id },
  };
  const calls = Object.entries(costs).flatMap(([session_name, cost]): StreamEvent[] => {
    const tool_call_id = `${id}-${session_name}`;
    const args = JSON.stringify({ session_name });
    return [
      { event: "tool-call", data: { id: tool_call_id, name: "copilot_agent", arguments: args } },
      {
        event: "agent-update",
        data: { tool_call_id, session_name, offset: 0, update: { type: "usage", input_tokens: 3, cost } },
      },
    ];
  });
  return [said, ...calls];
}

const dollars = (amount: number) => ({ amount, currency: "USD" });

function costs(turns: StreamEvent[][], change: Partial<SessionState> = {}): string[] {
  const state = { ...emptyState(0), moreBefore: false, ...change };
  return turns.map((events) => {
    for (const event of events) apply(state, event);
    return turnOf(state, state.entries.length - 1).cost;
  });
}

it("a turn costs what its agents' sessions cost more than before", () => {
  expect(
    costs([
      turn("a", { main: dollars(0.5) }),
      turn("b", { main: dollars(0.75), api: dollars(1) }),
      turn("c", { main: dollars(0.752) }),
      // The agent was started anew and counts from nothing.
      turn("d", { main: dollars(0.25) }),
    ]),
  ).toEqual(["$0.50", "$1.25", "under $0.01", "$0.25"]);
});

it("what is not known is not told", () => {
  expect(costs([turn("a", { main: null })])).toEqual([""]);
  expect(costs([turn("a", { main: dollars(2) })], { moreBefore: true }), "earlier turns were not fetched").toEqual([
    "",
  ]);
  expect(costs([turn("a", { main: dollars(2), api: { amount: 1, currency: "EUR" } })])).toEqual([""]);
  for (const cost of [{ amount: -1, currency: "USD" }, { amount: 1, currency: "no money" }, { amount: "1" }, 7])
    expect(costs([turn("a", { main: cost })])).toEqual([""]);
});

it("what an entry asks of the conversation is the same work in a long one", () => {
  const asked = (turns: number) => {
    const state = emptyState(0);
    for (let at = 0; at < turns; at++) {
      apply(state, {
        event: "message",
        data: { id: `m-${at}`, role: "user", content: "go", created_at: time, turn_id: `${at}` },
      });
      apply(state, {
        event: "message",
        data: { id: `n-${at}`, role: "assistant", content: "done", created_at: time, turn_id: `${at}` },
      });
    }
    let reads = 0;
    state.entries = new Proxy(state.entries, {
      get(entries, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) reads += 1;
        return Reflect.get(entries, key);
      },
    });
    // An answer in the middle: much is before it and much behind.
    const index = turns - 1;
    turnOf(state, index);
    isRepetition(state.entries, index, state.calls);
    endsTurn(state.entries, index);
    startedWith(state.entries, index, state.calls);
    return reads;
  };
  expect(asked(1_000)).toBe(asked(10));
});

it("agents that wait together hold up their turn once", () => {
  const state = emptyState(0);
  const [said, ...calls] = turn("a", { main: null, api: null });
  for (const event of [said as StreamEvent, ...calls]) apply(state, event);
  for (const [name, turn_waited_ms] of [
    ["main", 6_000],
    ["api", 10_000],
  ] as const) {
    const tool_call_id = `a-${name}`;
    const done = { session_name: name, summary: "", stop_reason: "end_turn", waited_ms: 8_000, turn_waited_ms };
    apply(state, { event: "copilot-done", data: { tool_call_id, agent: "demo", ...done } });
  }
  expect(turnOf(state, state.entries.length - 1).waited).toBe(10_000);
});
