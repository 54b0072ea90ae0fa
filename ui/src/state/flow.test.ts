import { expect, it } from "vitest";
import type { Update } from "../api/types";
import { addText, addUpdate, type Flow, newFlow } from "./flow";
import { viewOfFlow } from "./testing/view";

const call = (id: string, status: string): Update => ({ type: "tool_call", id, status });
const think = (text: string): Update => ({ type: "thought", text });

it("what arrives after the whole text lands where it happened", () => {
  const live = newFlow(0);
  addUpdate(live, 0, think("hm"));
  addText(live, 0, "one ");
  addUpdate(live, 4, call("a", "pending"));
  addUpdate(live, 4, call("b", "pending"));
  addText(live, 4, "two 😀");
  addUpdate(live, 10, call("a", "completed"));
  addUpdate(live, 10, think("good"));

  const replayed = newFlow(0);
  addText(replayed, 0, "one two 😀");
  addUpdate(replayed, 0, think("hm"));
  addUpdate(replayed, 4, call("a", "completed"));
  addUpdate(replayed, 4, call("b", "pending"));
  addUpdate(replayed, 10, think("good"));

  const expected = [
    { thought: "hm" },
    "one ",
    call("a", "completed"),
    call("b", "pending"),
    "two 😀",
    { thought: "good" },
  ];
  expect(viewOfFlow(live)).toEqual(expected);
  expect(viewOfFlow(replayed)).toEqual(expected);
});

it("how long something took is the same for who saw it and for who came later", () => {
  const live = newFlow(0);
  const heard: [Update, number][] = [
    [think("a"), 10],
    [think("b"), 2_010],
    [call("c", "in_progress"), 3_000],
    [{ type: "tool_output", id: "c", offset: 0, content: "x" }, 4_000],
    [call("c", "completed"), 9_000],
  ];
  for (const [update, at_ms] of heard)
    addUpdate(live, 0, update, at_ms === 9_000 ? { at_ms, waited_ms: 4_000 } : { at_ms });

  const later = newFlow(0);
  addUpdate(later, 0, think("ab"), { at_ms: 2_010, since_ms: 10 });
  addUpdate(later, 0, call("c", "completed"), { at_ms: 9_000, since_ms: 3_000, waited_ms: 4_000 });

  const times = (flow: Flow) => flow.parts.map((part) => ("heard" in part ? part.heard : null));
  expect(times(live)).toEqual([
    { from: 10, to: 2_010, waited: 0 },
    { from: 3_000, to: 9_000, waited: 4_000 },
  ]);
  expect(times(later)).toEqual(times(live));
});

it("thoughts in a row are one thought, and text in between parts them", () => {
  const flow = newFlow(0);
  addUpdate(flow, 0, think("a"));
  addUpdate(flow, 0, think("b"));
  addText(flow, 0, "x");
  addUpdate(flow, 1, think("c"));
  expect(viewOfFlow(flow)).toEqual([{ thought: "ab" }, "x", { thought: "c" }]);
});

it("a plan replaces the earlier one in its place", () => {
  const plan = (status: string): Update => ({ type: "plan", entries: [{ content: "do", priority: "low", status }] });
  const flow = newFlow(0);
  addUpdate(flow, 0, plan("pending"));
  addText(flow, 0, "x");
  addUpdate(flow, 1, plan("completed"));
  expect(viewOfFlow(flow)).toEqual([plan("completed"), "x"]);
});

it("text goes on growing behind a cut", () => {
  const flow = newFlow(0);
  addText(flow, 0, "abcd");
  addUpdate(flow, 2, call("a", "pending"));
  addText(flow, 4, "ef");
  expect(viewOfFlow(flow)).toEqual(["ab", call("a", "pending"), "cdef"]);
  expect(addText(flow, 9, "hole")).toBe(false);
});

it("usage and title are kept beside the text", () => {
  const flow = newFlow(0);
  addUpdate(flow, 0, { type: "usage", used: 5, size: null });
  addUpdate(flow, 0, { type: "title", title: "t" });
  expect(flow).toMatchObject({ usage: { used: 5, size: null }, title: "t", parts: [] });
});

it("a usage that only counts tokens leaves what is known of the context", () => {
  const flow = newFlow(0);
  addUpdate(flow, 0, { type: "usage", used: 5, size: 10 });
  addUpdate(flow, 0, { type: "usage", input_tokens: 300, output_tokens: 60 });
  expect(flow.usage).toMatchObject({ used: 5, size: 10, input: 300, output: 60, total: null });
});

const prints = (id: string, offset: number, content: string): Update => ({ type: "tool_output", id, offset, content });

it("the output of a call grows where the call stands, and no report of the call wipes it", () => {
  const flow = newFlow(0);
  addUpdate(flow, 0, call("a", "in_progress"));
  addText(flow, 0, "words");
  addUpdate(flow, 5, prints("a", 0, "one "));
  addUpdate(flow, 5, prints("a", 4, "two"));
  addUpdate(flow, 5, prints("a", 0, "one two"));
  addUpdate(flow, 5, call("a", "completed"));
  expect(viewOfFlow(flow)).toEqual([{ ...call("a", "completed"), stream: "one two", stream_length: 7 }, "words"]);
});

it("a stored call brings its output along, and later pieces go on behind it", () => {
  const stored = { ...call("a", "in_progress"), stream: "… two", stream_length: 100 } as Update;
  const flow = newFlow(0);
  addUpdate(flow, 0, stored);
  addUpdate(flow, 0, prints("a", 97, "two three"));
  addUpdate(flow, 0, stored);
  expect(viewOfFlow(flow)).toEqual([{ ...call("a", "in_progress"), stream: "… two three", stream_length: 106 }]);
});

it("output of a call that nobody reported makes one, which later reports describe", () => {
  const flow = newFlow(0);
  addUpdate(flow, 0, prints("a", 0, "x"));
  addUpdate(flow, 0, prints("b", 0, "y"));
  addUpdate(flow, 0, call("a", "completed"));
  addUpdate(flow, 0, { type: "tool_call", id: "b", status: "completed", parent: "helper" });
  addUpdate(flow, 0, prints("b", 1, "z"));
  expect(viewOfFlow(flow)).toMatchObject([
    { id: "a", status: "completed", stream: "x" },
    { agent: "helper", calls: [{ id: "b", status: "completed", stream: "yz" }] },
  ]);
});

it("the notice of a retry is laid over its earlier state", () => {
  const retry = (number: number, repeated: number): Update => ({
    type: "notice",
    level: "info",
    text: "Retrying...",
    in_text: true,
    retry: { number, repeated },
  });
  const flow = newFlow(0);
  addText(flow, 0, "half");
  addUpdate(flow, 4, retry(1, 0));
  addUpdate(flow, 4, retry(1, 3));
  addUpdate(flow, 4, retry(2, 0));
  addText(flow, 4, " done");
  expect(viewOfFlow(flow)).toEqual(["half", retry(1, 3), retry(2, 0), " done"]);
});

it("the calls of a sub-agent stand together where the first of them happened", () => {
  const of = (id: string, status: string): Update => ({ type: "tool_call", id, status, parent: "helper" });
  const flow = newFlow(0);
  addText(flow, 0, "one ");
  addUpdate(flow, 4, of("a", "pending"));
  addText(flow, 4, "two ");
  addUpdate(flow, 8, call("mine", "pending"));
  addUpdate(flow, 8, of("b", "pending"));
  addUpdate(flow, 8, of("a", "completed"));
  const group = { agent: "helper", calls: [of("a", "completed"), of("b", "pending")] };
  expect(viewOfFlow(flow)).toEqual(["one ", group, "two ", call("mine", "pending")]);
});

it("a compaction grows with its reports", () => {
  const flow = newFlow(0);
  addUpdate(flow, 0, { type: "compaction", id: "k", status: "in_progress" });
  addUpdate(flow, 0, { type: "compaction", id: "k", summary: "We mended", appends: true });
  addUpdate(flow, 0, { type: "compaction", id: "k", summary: " the login.", appends: true });
  addUpdate(flow, 0, { type: "compaction", id: "k", status: "completed" });
  expect(viewOfFlow(flow)).toMatchObject([{ status: "completed", summary: "We mended the login." }]);
});

it("approvals stand together until the agent says something, whatever it does in between", () => {
  const flow = newFlow(0);
  const approved = (title: string) => ({ type: "approved", title, by: "policy" }) as const;
  addText(flow, 0, "I begin.");
  addUpdate(flow, 8, approved("ls"));
  addUpdate(flow, 8, { type: "tool_call", id: "1", title: "ls" });
  addUpdate(flow, 8, approved("cat"));
  addUpdate(flow, 8, { type: "tool_call", id: "2", title: "cat" });
  addText(flow, 8, " I end.");
  addUpdate(flow, 15, approved("rm"));
  expect(
    flow.parts.map((part) => (part.type === "approved" ? part.approvals.map(({ title }) => title) : part.type)),
  ).toEqual(["text", ["ls", "cat"], "update", "update", "text", ["rm"]]);
});
