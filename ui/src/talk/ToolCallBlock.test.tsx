import { Show } from "solid-js";
import { createStore, produce } from "solid-js/store";
import { render } from "solid-js/web";
import { afterEach, expect, it, vi } from "vitest";
import type { StreamEvent, Update } from "../api/types";
import { emptyState, type SessionState } from "../state/model";
import { apply } from "../state/reducer";
import { makeAgent } from "../state/testing/agent";
import { KnownAgents } from "./agentNames";
import { forget } from "./folds";
import { ToolCallBlock } from "./ToolCallBlock";

let dispose = () => {};
afterEach(() => {
  dispose();
  forget();
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
const summary = () => block()?.querySelector("summary .copilot-name")?.textContent;
const ring = () => block()?.querySelector("summary .dot.running");
const stream = () => document.querySelector<HTMLElement>("pre.copilot-stream");
const words = () => [...(stream()?.querySelectorAll(".copilot-text") ?? [])].map((part) => part.textContent);
const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

// Holds S1-72, S1-73, S1-74, S1-77.
it("a delegation is open with a spinner while it runs, and closed and done at the end", async () => {
  const send = mount(start);
  expect(document.querySelector(".tool-block > .tool-caption")?.textContent).toBe("⚙ copilot_agent");
  expect(summary()).toBe("🤖 Copilot [fix-tests]");
  expect(block()?.open).toBe(true);
  expect(ring()).not.toBeNull();
  send(says(0, "work"), says(4, "ing"));
  await soon(() => expect(words()).toEqual(["working"]));
  expect(block()?.contains(stream() as Node)).toBe(true);
  expect(document.querySelector(".tool-block")?.textContent).not.toContain('"session_name"');
  send(ends("end_turn"));
  expect(document.querySelector(".tool-block")?.textContent).not.toContain('"session_name"');
  expect(summary()).toBe("🤖 Copilot [fix-tests] — done");
  expect(ring()).toBeNull();
  await soon(() => expect(block()?.open).toBe(false));
});

it("a block does not close under somebody who reads in it", async () => {
  const send = mount(start, says(0, "some words"));
  stream()?.focus();
  vi.useFakeTimers();
  send(ends("end_turn"));
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  expect(block()?.open).toBe(true);
  expect(summary()).toBe("🤖 Copilot [fix-tests] — done");
});

// Holds S1-76.
it("what somebody opened by hand stays so, also on a page that is loaded again", () => {
  mount(start, says(0, "text"), ends("end_turn"));
  const details = block() as HTMLDetailsElement;
  expect(details.open).toBe(false);
  details.open = true;
  details.dispatchEvent(new Event("toggle"));
  expect(JSON.parse(sessionStorage.getItem("voxpilot.folds") ?? "{}")).toEqual({ "card:c": true });
  dispose();
  document.body.replaceChildren();
  mount(start, says(0, "text"), ends("end_turn"));
  expect(block()?.open).toBe(true);
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

it.each([
  ["cancelled", "stopped"],
  ["failed", "failed"],
  ["interrupted", "interrupted"],
  ["denied", "declined"],
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
});

it("growing text is appended, what is there stays the same node", async () => {
  const send = mount(start, says(0, "one "));
  const node = stream()?.querySelector(".copilot-text p")?.firstChild;
  send(says(4, "two"));
  await soon(() => expect(words()).toEqual(["one two"]));
  expect(stream()?.querySelector(".copilot-text p")?.firstChild).toBe(node);
});

it("what the agent does stands where it happened", async () => {
  const edit: Update = {
    type: "tool_call",
    id: "e",
    title: "Edit x.rs",
    kind: "edit",
    status: "completed",
    content: [{ type: "diff", path: "x.rs", old_text: "a\n", new_text: "b\n" }],
  };
  mount(start, says(0, "before after"), does(7, edit), does(0, { type: "thought", text: "hm" }));
  const items = [...(stream()?.querySelectorAll(".event") ?? [])].map(
    (item) => item.querySelector(".line-words")?.textContent,
  );
  expect(items).toEqual(["Task: Fix it", "Thought", undefined, "Edited x.rs", undefined]);
  const lines = () => [...document.querySelectorAll(".call-diff tr")].map((line) => line.textContent);
  await soon(() => expect(lines()).toEqual(["1a", "1b"]));
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
  expect(words()).toEqual(["all ", "of it"]);
});

it("a plain tool shows its arguments as names and values, and its result", async () => {
  const call = { id: "c", name: "read_file", arguments: '{"path":"src/x.rs","limit":3}' };
  const send = mount({ event: "tool-call", data: call });
  expect(document.querySelector("details.tool-block")?.textContent).toContain("⚙ read_file");
  const fields = () => [...document.querySelectorAll(".fields > div")].map((field) => field.textContent);
  await vi.waitFor(() => expect(fields()).toEqual(["pathsrc/x.rs", "limit3"]));
  send({ event: "tool-result", data: { id: "c", name: "read_file", content: "text", is_error: true } });
  expect(document.querySelector("summary")?.textContent).toContain("— failed");
  expect(document.querySelector(".tool-output")?.textContent).toBe("text");
});

it("a call that somebody stopped says so on every device until it has ended", () => {
  const send = mount(start, says(0, "hm"));
  const head = () => block()?.querySelector("summary")?.textContent;
  expect(head()).not.toContain("stopping");
  send({ event: "tool-stopping", data: { id: "c" } });
  expect(head()).toContain("stopping");
  expect(document.querySelector<HTMLButtonElement>(".agent-stop")?.disabled).toBe(true);
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

it("what was not allowed is declined, neither done nor failed, and none of its plan goes on", () => {
  const step = { content: "Remove it", priority: "low", status: "in_progress" };
  const next = { content: "Say so", priority: "low", status: "pending" };
  const send = mount(start, does(0, { type: "plan", entries: [step, next] }));
  const plan = () => document.querySelector(".plan-steps li");
  expect([plan()?.className, plan()?.textContent]).toEqual(["in_progress", "Remove it, in progress"]);
  const fold = () => plan()?.closest("details")?.open;
  expect(fold()).toBe(true);
  send(ends("denied"), denied);
  expect(fold(), "nothing below it moves").toBe(true);
  expect([plan()?.className, plan()?.textContent]).toEqual(["stopped", "Remove it, stopped"]);
  expect(block()?.classList).toContain("denied");
  expect(block()?.classList).not.toContain("bad");
  expect(document.querySelector(".agent > .denial")?.textContent).toBe(
    "Declined rm -rf /. Tell it what to do instead.",
  );
  expect(block()?.querySelector(".inline-error")).toBeNull();
  expect(block()?.querySelector(".copilot-ending")).toBeNull();
});

it("a call that names another agent has the same block, under that agent's name", () => {
  const send = mount({
    event: "tool-call",
    data: { id: "c", name: "delegate", arguments: '{"agent":"demo","session_name":"docs","prompt":"Write it"}' },
  });
  expect(document.querySelector(".tool-caption")?.textContent).toBe("⚙ delegate");
  expect(summary()).toBe("🤖 Demo agent [docs]");
  expect(block()?.open).toBe(true);
  expect(document.querySelector(".copilot-task summary")?.textContent).toBe("Task: Write it");
  const of = { tool_call_id: "c", session_name: "docs" };
  send({ event: "copilot-delta", data: { ...of, offset: 0, content: "work" } });
  expect(words()).toEqual(["work"]);
  send({ event: "copilot-done", data: { ...of, agent: "demo", summary: "", stop_reason: "end_turn" } });
  expect(summary()).toBe("🤖 Demo agent [docs] — done");
});

const runs = (fields: object): StreamEvent => does(0, { type: "tool_call", id: "t", title: "make", ...fields });
const prints = (offset: number, content: string): StreamEvent =>
  does(0, { type: "tool_output", id: "t", offset, content });
const opened = () => {
  for (const fold of document.querySelectorAll<HTMLDetailsElement>("details.agent-call")) {
    fold.open = true;
    fold.dispatchEvent(new Event("toggle"));
  }
};
const printed = () => [...document.querySelectorAll(".agent-output")].map((output) => output.textContent);

it("what a call of the agent's prints is shown as it grows, once", () => {
  const send = mount(start, runs({ status: "in_progress" }), prints(0, "one\n"));
  const call = () => document.querySelector<HTMLDetailsElement>("details.agent-call");
  expect([call()?.open, printed()]).toEqual([true, ["one"]]);
  send(prints(4, "two\n"), prints(0, "one\n"));
  expect(printed()).toEqual(["one\ntwo"]);
  const output = { exit_code: 0, output: "Output:\none\ntwo\n" };
  send(runs({ status: "completed", output }));
  expect([call()?.open, printed()]).toEqual([false, ["one\ntwo"]]);
});

it("what a call says at its end beside its stream is shown too", () => {
  mount(start, prints(0, "one\n"), runs({ status: "failed", content: [{ type: "text", text: "out of memory" }] }));
  opened();
  expect(printed()).toEqual(["one\nout of memory"]);
});

it("the stored output of a call is shown, and goes on growing", () => {
  const send = mount(start, runs({ status: "in_progress", stream: "… end", stream_length: 90_000 }));
  expect(printed()).toEqual(["… end"]);
  send(prints(89_997, "end\nmore"));
  expect(printed()).toEqual(["… end\nmore"]);
});

it("a call that was not allowed says so, and is over", () => {
  mount(start, runs({ status: "rejected", content: [{ type: "text", text: "no" }] }));
  expect(document.querySelector(".agent-call .call-status")?.textContent?.trim()).toBe("declined");
  expect(document.querySelector(".event .dot.running")).toBeNull();
});

it("a call that was declined says so, whatever the agent says of it, and only once", () => {
  mount(start, runs({ status: "completed" }), does(0, { type: "denied", title: "make", agent_call: "t" }));
  expect(document.querySelector(".agent-call .call-status")?.textContent?.trim()).toBe("declined");
  expect(document.querySelector(".agent-call")?.textContent).not.toContain("done");
  expect(document.querySelectorAll(".event")).toHaveLength(2);
});

it("a malformed request says what was wrong with it, also where its call is shown", () => {
  const malformed = "two of its options share the id `x`";
  mount(start, runs({ status: "pending" }), does(0, { type: "denied", title: "make", agent_call: "t", malformed }));
  expect(document.body.textContent).toContain(`Refused a malformed permission request: make (${malformed})`);
});

it("neighbours of a kind are one row, which opens theirs", () => {
  const call = (id: string, kind: string, more: object = {}): StreamEvent =>
    does(0, { type: "tool_call", id, kind, title: id, status: "completed", ...more });
  const diff = (path: string) => ({ content: [{ type: "diff", path, old_text: "a\n", new_text: "b\nc\n" }] });
  mount(
    start,
    call("r", "read", { locations: [{ path: "a.rs" }] }),
    call("s", "search"),
    call("e", "edit", diff("a.rs")),
    call("f", "edit", diff("b.rs")),
    call("x", "execute", { input: { command: "make" } }),
    ends("end_turn"),
  );
  const rows = [...document.querySelectorAll(".merged > summary .line-words")].map((row) => row.textContent);
  expect(rows).toEqual(["Read 1 file, searched once", "Edited 2 files, ran 1 command"]);
  expect(block()?.querySelector(".agent-meta")?.textContent).toContain("2 files");
});
