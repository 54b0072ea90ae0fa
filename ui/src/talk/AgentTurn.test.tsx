import { createSignal } from "solid-js";
import { createStore, produce } from "solid-js/store";
import { render } from "solid-js/web";
import { afterEach, expect, it, vi } from "vitest";
import type { StreamEvent } from "../api/types";
import { emptyState, type SessionState } from "../state/model";
import { apply } from "../state/reducer";
import { isRepetition } from "../state/straight";
import { makeAgent } from "../state/testing/agent";
import { AgentTurn } from "./AgentTurn";
import { KnownAgents } from "./agentNames";

let dispose = () => {};
afterEach(() => {
  dispose();
  document.body.replaceChildren();
});

function mount(state: SessionState, health = () => "ok", refresh = () => {}): HTMLElement | null {
  const call = state.calls.relay_1;
  if (!call) throw new Error("the call is not there");
  const agents = () => [makeAgent("demo", { title: "Demo agent", health: health() })];
  dispose = render(
    () => (
      <KnownAgents.Provider value={{ agents, own: () => "demo", refresh }}>
        <AgentTurn call={call} asks={undefined} waitsForLogin={false} stopping={false} onStop={async () => {}} />
      </KnownAgents.Provider>
    ),
    document.body,
  );
  return document.querySelector(".agent-turn");
}

const why = "denied: this was not allowed: rm -rf /";
const events: StreamEvent[] = [
  { event: "turn", data: { turn_id: "t", state: "running" } },
  {
    event: "tool-call",
    data: { id: "relay_1", name: "copilot_agent", arguments: '{"session_name":"main","prompt":"x"}' },
  },
  {
    event: "copilot-done",
    data: { tool_call_id: "relay_1", session_name: "main", agent: "demo", summary: why, stop_reason: "denied" },
  },
  { event: "tool-result", data: { id: "relay_1", name: "copilot_agent", content: why, display: "", is_error: true } },
  { event: "message", data: { id: "m", role: "assistant", content: why, created_at: "2026-01-01T00:00:00Z" } },
  { event: "turn", data: { turn_id: "t", state: "completed" } },
];

it("straight talk that was denied says so once, under the agent's name, and its turn has not failed", () => {
  const state = emptyState(0);
  for (const event of events) apply(state, event);
  const turn = mount(state);
  expect(turn?.getAttribute("aria-label")).toBe("Demo agent main");
  expect(turn?.querySelector(".agent-turn-head")?.textContent).toBe("🤖 Demo agent [main] — declined");
  expect(turn?.classList).toContain("denied");
  expect(turn?.querySelector(".denial")?.textContent).toBe("Declined rm -rf /. Tell it what to do instead.");
  expect(turn?.textContent?.match(/rm -rf/g)).toHaveLength(1);
  expect(isRepetition(state.entries, 1, state.calls), "what the relay repeats of it is not shown").toBe(true);
  expect(state.entries.map((entry) => entry.kind)).toEqual(["call", "message"]);
});

it("while its package is downloaded for the first time, it says so, and asks again until that is over", () => {
  vi.useFakeTimers();
  const state = emptyState(0);
  for (const event of events.slice(0, 2)) apply(state, event);
  const [health, setHealth] = createSignal("unknown");
  const refresh = vi.fn();
  const turn = mount(state, health, refresh);
  expect(turn?.textContent).toContain("Starting…");
  vi.advanceTimersByTime(2_000);
  expect(refresh).toHaveBeenCalledTimes(1);
  setHealth("installing");
  expect(turn?.textContent).toContain("npx downloads Demo agent for its first start");
  dispose();
  vi.advanceTimersByTime(10_000);
  expect(refresh).toHaveBeenCalledTimes(1);
  vi.useRealTimers();
});

it("the closing words are the answer from their first letter on, and the same nodes at the end", async () => {
  const [state, setState] = createStore(emptyState(0));
  const tell = (event: StreamEvent) => setState(produce((draft) => void apply(draft, event)));
  for (const event of events.slice(0, 2)) tell(event);
  const say = (offset: number, content: string): StreamEvent => ({
    event: "copilot-delta",
    data: { tool_call_id: "relay_1", session_name: "main", offset, content },
  });
  tell(say(0, "All **done**."));
  const turn = mount(state);
  const answer = turn?.querySelector("article.message.assistant");
  const words = answer?.querySelector("p");
  expect(words?.textContent).toBe("All done.");
  const { 2: done } = events;
  if (done?.event === "copilot-done") tell({ ...done, data: { ...done.data, stop_reason: "end_turn" } });
  tell({
    event: "message",
    data: { id: "m", role: "assistant", content: "All **done**.", created_at: "2026-01-01T00:00:00Z" },
  });
  expect(turn?.querySelector("article.message.assistant p")).toBe(words);
  expect(document.querySelectorAll("article.message.assistant")).toHaveLength(1);
  expect(isRepetition(state.entries, 1, state.calls)).toBe(true);
});
