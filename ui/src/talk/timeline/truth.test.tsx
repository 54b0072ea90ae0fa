// The timeline claims only what happened: what waits does not run, what never came to be is not counted, and a thought is no row.

import { createStore, produce } from "solid-js/store";
import { render } from "solid-js/web";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { pagesApi } from "../../api/pages";
import type { AgentToolCall, PermissionRequest, StreamEvent, Update } from "../../api/types";
import { emptyState, type SessionState } from "../../state/model";
import { apply } from "../../state/reducer";
import { AgentTurn } from "../AgentTurn";
import { wantedQuestion } from "../ask/shown";
import { forget } from "../folds";
import { NextStepsContext, type SessionHands } from "../nextSteps";
import { sumOf } from "./hunks";
import { HeldLine, SubAgent } from "./rare";
import { callWords, leadOf, mergedWords, rowsOf } from "./rows";

// It is loaded when one is there.
beforeAll(() => SubAgent.preload());

let dispose = () => {};
afterEach(() => {
  dispose();
  forget();
  document.body.replaceChildren();
});

const common = { tool_call_id: "relay_1", session_name: "main" };
const does = (update: Update, offset = 0, times?: { since_ms: number; at_ms: number }): StreamEvent => ({
  event: "agent-update",
  data: { ...common, offset, update, ...(times ? { times } : {}) },
});
const says = (content: string): StreamEvent => ({ event: "copilot-delta", data: { ...common, offset: 0, content } });
const start: StreamEvent[] = [
  { event: "ready", data: { seq: 0 } },
  { event: "turn", data: { turn_id: "t", state: "running" } },
  {
    event: "tool-call",
    data: { id: "relay_1", name: "copilot_agent", arguments: '{"session_name":"main","prompt":"x"}' },
  },
];
const ends = (stop_reason = "end_turn"): StreamEvent => ({
  event: "copilot-done",
  data: { ...common, summary: "", stop_reason },
});
const runs = (fields: Partial<AgentToolCall> = {}): Update => ({
  type: "tool_call",
  id: "run",
  kind: "execute",
  title: "rm -rf build",
  status: "pending",
  input: { command: "rm -rf build" },
  ...fields,
});
const edits = (fields: Partial<AgentToolCall> = {}): Update => ({
  type: "tool_call",
  id: "edit",
  kind: "edit",
  status: "completed",
  content: [{ type: "diff", path: "a.txt", old_text: "", new_text: "one\n" }],
  ...fields,
});
const plan = (steps: number): Update => ({
  type: "plan",
  entries: Array.from({ length: steps }, (_, at) => ({ content: `Step ${at}`, priority: "low", status: "completed" })),
});
const asks = (fields: Partial<PermissionRequest> = {}): StreamEvent => ({
  event: "permission-request",
  data: {
    ...common,
    request_id: "r",
    title: "rm -rf build",
    kind: "execute",
    command: "rm -rf build",
    agent_call: "run",
    asked_at: "2026-01-01T14:15:00",
    options: [],
    ...fields,
  },
});

function mount(...events: StreamEvent[]): (...events: StreamEvent[]) => void {
  const [state, setState] = createStore<SessionState>(emptyState(0));
  const send = (...more: StreamEvent[]) => {
    for (const event of more) setState(produce((draft) => void apply(draft, event)));
  };
  send(...start, ...events);
  const call = () => state.calls.relay_1;
  dispose = render(() => {
    const known = call();
    if (!known) throw new Error("the call is not there");
    return (
      <NextStepsContext.Provider value={{ open: { id: "s", state } } as SessionHands}>
        <AgentTurn
          call={known}
          asks={state.permissions}
          waitsForLogin={false}
          stopping={false}
          onStop={async () => {}}
        />
      </NextStepsContext.Provider>
    );
  }, document.body);
  return send;
}

const text = () => document.querySelector(".agent-turn")?.textContent ?? "";
const rows = () => [...document.querySelectorAll(".event")];

it("what is asked for waits: no spinner and no count, and the question comes up from there", () => {
  const send = mount(does(runs()), asks());
  expect(rows()).toHaveLength(1);
  expect(rows()[0]?.textContent).toBe("Waiting for you rm -rf buildasked at 14:15");
  expect(document.querySelector(".dot.running")).toBeNull();
  expect(rows()[0]?.querySelector(".dot.waiting")).not.toBeNull();
  expect(text()).not.toContain("Running");
  expect(document.querySelector(".agent-time")).toBeNull();
  document.querySelector<HTMLElement>(".wait-line")?.click();
  expect(wantedQuestion()?.id).toBe("r");
  send(
    { event: "permission-resolved", data: { request_id: "r", by: "person" } },
    does(runs({ status: "in_progress" })),
  );
  expect(document.querySelector(".wait-line")).toBeNull();
  expect(document.querySelector(".lead")?.textContent).toContain("running rm -rf build");
});

it("what was denied and can still be undone waits for nobody: the row says so, with the way back", async () => {
  await HeldLine.preload();
  const undoDenial = vi.spyOn(pagesApi, "undoDenial").mockResolvedValue(undefined);
  const send = mount(does(runs()), asks(), {
    event: "permission-held",
    data: { request_id: "r", verdict: "reject", reach: "once", by: "person", until: 9e12 },
  });
  expect(rows()[0]?.textContent).toBe("Declined rm -rf buildUndo");
  expect(rows()[0]?.querySelector(".dot")).toBeNull();
  document.querySelector<HTMLElement>(".line-action")?.click();
  expect(undoDenial).toHaveBeenCalledWith("s", "r");
  send({ event: "permission-pending", data: { request_id: "r" } });
  expect(rows()[0]?.textContent).toBe("Waiting for you rm -rf buildasked at 14:15");
});

it("a question about something that was not told of has a row too", () => {
  mount(asks({ agent_call: null }));
  expect(rows().map((row) => row.querySelector(".wait-word")?.textContent)).toEqual(["Waiting for you"]);
});

it("a sub-agent that waits does not spin while another one works", () => {
  const inner = (id: string, parent: string): Update => runs({ id, parent, status: "in_progress" });
  mount(does(inner("run", "one")), does(inner("other", "two")), asks());
  const groups = [...document.querySelectorAll(".sub-agent")];
  expect(groups.map((group) => group.querySelector(":scope > .dot")?.className)).toEqual([
    "dot waiting",
    "dot running",
  ]);
  expect(groups[0]?.textContent).toContain("Waiting for you");
});

it.each([
  ["declined", "person", "declined by you"],
  ["declined", "rule", "declined by a rule"],
  ["cancelled", "cancel", "stopped"],
])("an edit that was %s (%s) is not applied, and not counted", (status, declined_by, words) => {
  const update = edits({ status, declined_by });
  mount(does(update), says("Fine."), ends());
  expect(document.querySelector(".not-applied")?.textContent).toBe("Not applied");
  expect(document.querySelector(".agent-call-title s")?.textContent).toBe("a.txt");
  expect(document.querySelector(".line-end")?.textContent).toContain(words);
  expect(document.querySelector(".ghost")).not.toBeNull();
  expect(document.querySelector(".plus-minus")).toBeNull();
  expect(text()).not.toContain("Edited");
  expect(sumOf([update as AgentToolCall])).toEqual({ files: 0, additions: 0, deletions: 0 });
});

it("a command that was declined, or stopped before anybody had answered, was not run", () => {
  const words = (fields: Partial<AgentToolCall>) =>
    callWords(runs(fields) as AgentToolCall, false, (path) => path).text;
  expect(words({ status: "declined" })).toBe("Not run");
  expect(words({ status: "cancelled", declined_by: "cancel" })).toBe("Not run");
  expect(words({ status: "cancelled" })).toBe("Ran");
  expect(words({ status: "failed" })).toBe("Ran");
});

it("what was not applied is not among what several calls come to", () => {
  const calls = [edits(), edits({ id: "b", status: "failed" }), runs({ status: "failed" })] as AgentToolCall[];
  expect(mergedWords(calls)).toBe("Edited 1 file, ran 1 command, 2 failed");
});

it("a plan of one step and a thought are part of the line beside the agent's name", () => {
  const thought: Update = { type: "thought", text: "hm" };
  mount(
    does(plan(1)),
    does(thought, 0, { since_ms: 0, at_ms: 2_000 }),
    does(runs({ status: "completed" })),
    says("All done."),
    ends(),
  );
  expect(rows()).toHaveLength(0);
  const lead = document.querySelector<HTMLElement>(".lead");
  expect(lead?.querySelector(".line-words")?.textContent).toBe("ran rm -rf build, thought for 2 s");
  expect(document.querySelector(".plan-steps, .thought-text")).toBeNull();
  lead?.click();
  expect(document.querySelector(".lead-body .plan-steps")?.textContent).toContain("Step 0");
  expect(document.querySelector(".lead-body")?.textContent).toContain("Thought for 2 s");
});

it("a plan of several steps, and an edit with its change, keep their rows", () => {
  mount(does(plan(3)), does(edits()), says("Done."), ends());
  expect(rows()).toHaveLength(2);
  expect(document.querySelector(".lead")).toBeNull();
  expect(text()).toContain("Plan · 3 of 3");
});

it("an agent that said nothing leaves no words that are meant for a model", () => {
  const content = "(the agent wrote no closing message)\n\nstop reason: cancelled";
  mount(ends("cancelled"), {
    event: "tool-result",
    data: { id: "relay_1", name: "copilot_agent", content, display: "", is_error: false },
  });
  expect(text()).not.toMatch(/closing message|stop reason/);
});

it("that an agent asks its model again is gone once that has answered", () => {
  const retry: Update = {
    type: "notice",
    level: "warning",
    text: "The model did not answer. Trying again.",
    retry: { number: 1, repeated: 0 },
  };
  const send = mount(does(retry));
  expect(text()).toContain("Trying again");
  send(says("Here I am."));
  expect(text()).not.toContain("Trying again");
});

it("the same rows come from the same flow, whatever is asked in between", () => {
  const state = emptyState(0);
  for (const event of [...start, does(runs()), asks()]) apply(state, event);
  const flow = state.calls.relay_1?.copilotStream ?? null;
  expect(rowsOf(flow, { running: true, asks: state.permissions }).map(({ kind }) => kind)).toEqual(["wait"]);
  expect(rowsOf(flow, { running: true }).map(({ kind }) => kind)).toEqual(["work"]);
  expect(leadOf(rowsOf(flow, { running: true, asks: state.permissions }))).toBeNull();
});
