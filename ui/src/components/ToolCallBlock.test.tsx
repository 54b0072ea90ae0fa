import { Show } from "solid-js";
import { createStore, produce } from "solid-js/store";
import { render } from "solid-js/web";
import { afterEach, expect, it } from "vitest";
import type { StreamEvent, Update } from "../api/types";
import { emptyState, type SessionState } from "../state/model";
import { apply } from "../state/reducer";
import { makeAgent } from "../state/testing/agent";
import { KnownAgents } from "./agentNames";
import { ToolCallBlock } from "./ToolCallBlock";

let dispose = () => {};
afterEach(() => {
  dispose();
  document.body.replaceChildren();
});

const demo = makeAgent("demo", { title: "Demo agent" });

/** A page with the block of call "c", and the way to send it events. */
function mount(...events: StreamEvent[]): (...events: StreamEvent[]) => void {
  const [state, setState] = createStore<SessionState>(emptyState(0));
  const send = (...more: StreamEvent[]) => {
    for (const event of more) setState(produce((draft) => void apply(draft, event)));
  };
  send({ event: "ready", data: { seq: 0 } }, ...events);
  dispose = render(
    () => (
      <KnownAgents.Provider value={{ agents: () => [demo], own: () => "copilot", refresh: () => {} }}>
        <Show when={state.calls.c}>
          {(call) => <ToolCallBlock call={call()} artifact={undefined} onStop={async () => {}} />}
        </Show>
      </KnownAgents.Provider>
    ),
    document.body,
  );
  return send;
}

const common = { tool_call_id: "c", session_name: "fix-tests" };
const start: StreamEvent = {
  event: "tool-call",
  data: { id: "c", name: "copilot_agent", arguments: '{"prompt":"Fix it","session_name":"fix-tests"}' },
};
const says = (offset: number, content: string): StreamEvent => ({
  event: "copilot-delta",
  data: { ...common, offset, content },
});
const does = (offset: number, update: Update): StreamEvent => ({
  event: "agent-update",
  data: { ...common, offset, update },
});
const ends = (stop_reason: string): StreamEvent => ({
  event: "copilot-done",
  data: { ...common, summary: "Fixed.", stop_reason },
});

const block = () => document.querySelector<HTMLDetailsElement>("details.copilot-block");
const summary = () => block()?.querySelector("summary")?.textContent;
const stream = () => document.querySelector("pre.copilot-stream");

// Holds S1-72, S1-73, S1-74, S1-77.
it("a delegation is open with a spinner while it runs, and closed and done at the end", () => {
  const send = mount(start);
  expect(document.querySelector("details.tool-block > summary")?.textContent).toBe("⚙ copilot_agent");
  expect(summary()).toBe("🤖 Copilot [fix-tests]");
  expect(block()?.open).toBe(true);
  expect(block()?.querySelector("summary .spinner")).not.toBeNull();
  send(says(0, "work"), says(4, "ing"));
  expect(stream()?.textContent).toBe("working");
  send(ends("end_turn"));
  expect(summary()).toBe("🤖 Copilot [fix-tests] — done");
  expect(block()?.open).toBe(false);
  expect(block()?.querySelector("summary .spinner")).toBeNull();
});

// Holds S3-18.
it("a delegation that survived the server says so while it runs", () => {
  const send = mount(start, says(0, "text"));
  const recovered = () => document.querySelector(".copilot-recovered")?.textContent;
  expect(recovered()).toBeUndefined();
  const notice = { code: "recovered", level: "info", title: "Recovered", text: "replaying", session_name: "fix-tests" };
  send({ event: "notice", data: notice }, says(4, " goes on"));
  expect(recovered()).toBe("recovered, still live");
  send(ends("end_turn"));
  expect(recovered()).toBeUndefined();
});

// Holds S1-76.
it("a block that was opened again stays open", () => {
  const send = mount(start, says(0, "text"), ends("end_turn"));
  const details = block() as HTMLDetailsElement;
  details.open = true;
  send({
    event: "tool-result",
    data: { id: "c", name: "copilot_agent", content: "Fixed.", display: "text", is_error: false },
  });
  expect(details.open).toBe(true);
  expect(stream()?.textContent).toBe("text");
});

it.each([
  ["cancelled", "stopped"],
  ["failed", "failed"],
  ["interrupted", "interrupted"],
  ["denied", "denied"],
  ["refusal", "refused"],
  ["some_new_reason", "some new reason"],
])("an end by %s is called %s", (reason, words) => {
  mount(start, ends(reason));
  expect(summary()).toBe(`🤖 Copilot [fix-tests] — ${words}`);
});

it("a delegation whose turn ended without a result was interrupted", () => {
  const send = mount({ event: "turn", data: { turn_id: "t", state: "running" } }, start);
  send({ event: "turn", data: { turn_id: "t", state: "interrupted" } });
  expect(summary()).toBe("🤖 Copilot [fix-tests] — interrupted");
  expect(block()?.open).toBe(false);
});

it("growing text is appended, what is there stays the same node", () => {
  const send = mount(start, says(0, "one "));
  const node = stream()?.querySelector(".copilot-text")?.firstChild;
  send(says(4, "two"));
  expect(stream()?.querySelector(".copilot-text")?.firstChild).toBe(node);
  expect(node?.textContent).toBe("one two");
});

it("what the agent does stands where it happened", () => {
  const edit: Update = {
    type: "tool_call",
    id: "e",
    title: "Edit x.rs",
    kind: "edit",
    status: "completed",
    content: [{ type: "diff", path: "x.rs", old_text: "a\n", new_text: "b\n" }],
  };
  mount(start, says(0, "before after"), does(7, edit), does(0, { type: "thought", text: "hm" }));
  const items = [...(stream()?.querySelector(".copilot-flow")?.children ?? [])].map((item) => item.className);
  expect(items).toEqual(["flow-item thought", "copilot-text", "flow-item agent-call", "copilot-text"]);
  const lines = [...document.querySelectorAll(".diff-line")].map((line) => `${line.className}: ${line.textContent}`);
  expect(lines).toEqual(["diff-line removed: −a", "diff-line added: +b"]);
  expect(stream()?.textContent).not.toContain("{");
});

// Holds S1-81.
it("history shows the same block, closed", () => {
  const message = { id: "m", created_at: "2026-01-01T00:00:00Z", content: "" };
  const call = { id: "c", name: "copilot_agent", arguments: "{}" };
  const delegation = {
    session_name: "fix-tests",
    stop_reason: "end_turn",
    summary: "Fixed.",
    updates: [{ offset: 4, update: { type: "tool_call", id: "r", title: "Read", status: "completed" } as Update }],
  };
  mount(
    { event: "message", data: { ...message, role: "assistant", tool_calls: [call] } },
    { event: "message", data: { ...message, role: "tool", tool_call_id: "c", display: "all of it", delegation } },
  );
  expect(summary()).toBe("🤖 Copilot [fix-tests] — done");
  expect(block()?.open).toBe(false);
  const texts = [...(stream()?.querySelectorAll(".copilot-text") ?? [])].map((part) => part.textContent);
  expect(texts).toEqual(["all ", "of it"]);
});

it("a plain tool shows its arguments as names and values, and its result", () => {
  const call = { id: "c", name: "read_file", arguments: '{"path":"src/x.rs","limit":3}' };
  const send = mount({ event: "tool-call", data: call });
  expect(document.querySelector("details.tool-block")?.textContent).toContain("⚙ read_file");
  const fields = [...document.querySelectorAll(".fields > div")].map((field) => field.textContent);
  expect(fields).toEqual(["pathsrc/x.rs", "limit3"]);
  send({ event: "tool-result", data: { id: "c", name: "read_file", content: "text", is_error: true } });
  expect(document.querySelector("summary")?.textContent).toContain("— failed");
  expect(document.querySelector(".tool-output")?.textContent).toBe("text");
});

it("a call that somebody stopped says so on every device until it has ended", () => {
  const send = mount(start, says(0, "hm"));
  expect(summary()).not.toContain("stopping");
  send({ event: "tool-stopping", data: { id: "c" } });
  expect(summary()).toContain("stopping");
  expect(document.querySelector<HTMLButtonElement>(".copilot-foot button")?.disabled).toBe(true);
  send(ends("cancelled"));
  expect(summary()).toBe("🤖 Copilot [fix-tests] — stopped");
});

const denied: StreamEvent = {
  event: "tool-result",
  data: {
    id: "c",
    name: "copilot_agent",
    content: "denied: this was not allowed: rm -rf /\n\nwhat it had written until then:\n\nhm",
    display: "",
    is_error: true,
  },
};

it("what was not allowed is denied, neither done nor failed, and none of its plan goes on", () => {
  const step = { content: "Remove it", priority: "low", status: "in_progress" };
  const send = mount(start, does(0, { type: "plan", entries: [step] }));
  const plan = () => document.querySelector(".plan li");
  expect([plan()?.className, plan()?.textContent]).toEqual(["in_progress", "◐Remove it, in progress"]);
  send(ends("denied"), denied);
  expect([plan()?.className, plan()?.textContent]).toEqual(["not_finished", "☐Remove it, not finished"]);
  expect(block()?.classList).toContain("denied");
  expect(block()?.classList).not.toContain("bad");
  expect(block()?.querySelector(".denial")?.textContent).toBe("Denied This was not allowed: rm -rf /");
  expect(block()?.querySelector(".inline-error")).toBeNull();
  expect(block()?.querySelector(".copilot-ending")).toBeNull();
});

it("a call that names another agent has the same block, under that agent's name", () => {
  const send = mount({
    event: "tool-call",
    data: { id: "c", name: "delegate", arguments: '{"agent":"demo","session_name":"docs","prompt":"Write it"}' },
  });
  expect(document.querySelector("details.tool-block > summary")?.textContent).toBe("⚙ delegate");
  expect(summary()).toBe("🤖 Demo agent [docs]");
  expect(block()?.open).toBe(true);
  expect(document.querySelector(".copilot-task summary")?.textContent).toBe("Write it");
  const of = { tool_call_id: "c", session_name: "docs" };
  send({ event: "copilot-delta", data: { ...of, offset: 0, content: "work" } });
  expect(stream()?.textContent).toBe("work");
  send({ event: "copilot-done", data: { ...of, agent: "demo", summary: "", stop_reason: "end_turn" } });
  expect(summary()).toBe("🤖 Demo agent [docs] — done");
  expect(block()?.open).toBe(false);
});

const runs = (fields: object): StreamEvent => does(0, { type: "tool_call", id: "t", title: "make", ...fields });
const prints = (offset: number, content: string): StreamEvent =>
  does(0, { type: "tool_output", id: "t", offset, content });
const printed = () => [...document.querySelectorAll(".agent-output")].map((output) => output.textContent);

it("what a call of the agent's prints is shown as it grows, once", () => {
  const send = mount(start, runs({ status: "in_progress" }), prints(0, "one\n"));
  const call = () => document.querySelector<HTMLDetailsElement>("details.agent-call");
  expect([call()?.open, printed()]).toEqual([true, ["one\n"]]);
  const node = document.querySelector(".agent-output .stream-text")?.firstChild;
  send(prints(4, "two\n"), prints(0, "one\n"));
  expect(node?.textContent).toBe("one\ntwo\n");
  const output = { exit_code: 0, output: "Output:\none\ntwo\n" };
  send(runs({ status: "completed", output }));
  expect([call()?.open, printed()]).toEqual([false, ["one\ntwo\n"]]);
});

it("what a call says at its end beside its stream is shown too", () => {
  mount(start, prints(0, "one\n"), runs({ status: "failed", content: [{ type: "text", text: "out of memory" }] }));
  expect(printed()).toEqual(["one\n", "out of memory"]);
});

it("the stored output of a call is shown, and goes on growing", () => {
  const send = mount(start, runs({ status: "in_progress", stream: "… end", stream_length: 90_000 }));
  expect(printed()).toEqual(["… end"]);
  send(prints(89_997, "end\nmore"));
  expect(printed()).toEqual(["… end\nmore"]);
});

it("the foot counts what the agent has used", () => {
  mount(start, does(0, { type: "usage", input_tokens: 12_300, output_tokens: 60 }));
  expect(document.querySelector(".copilot-foot .copilot-usage")?.textContent).toBe("12,300 in · 60 out");
});

it("a call that was not allowed says so, and is over", () => {
  mount(start, runs({ status: "rejected", content: [{ type: "text", text: "no" }] }));
  expect(document.querySelector(".agent-call .call-status")?.textContent).toBe("not allowed");
  expect(document.querySelector(".agent-call .spinner")).toBeNull();
});
