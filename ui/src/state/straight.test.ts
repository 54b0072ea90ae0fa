import { expect, it } from "vitest";
import { addText, addUpdate, newFlow } from "./flow";
import type { Entry, MessageEntry, StreamingToolCall } from "./model";
import { answerTo, isRepetition, isStraight, repeatedPart } from "./straight";
import { newText } from "./text";

const message = (content: string) =>
  ({ kind: "message", id: "m", role: "assistant", text: newText(1, content) }) as MessageEntry;
const call = (id: string) => ({ id, name: "copilot_agent", copilotStream: flow() }) as StreamingToolCall;
const tool = { type: "tool_call", id: "t", title: "Edit" } as Parameters<typeof addUpdate>[2];

function flow(closing = "All done. ") {
  const made = newFlow(1);
  addText(made, 0, "First I look. ");
  addUpdate(made, 14, tool);
  if (closing) addText(made, 14, closing);
  return made;
}

it("closing words that the answer repeats are shown once, as the answer", () => {
  expect(repeatedPart(flow(), "All done.")).toMatchObject({ type: "text", start: 14 });
  const entries: Entry[] = [{ kind: "call", id: "relay_1" }, message("All done.")];
  expect(answerTo(entries, 0)).toBe("All done.");
  expect(isRepetition(entries, 1, { relay_1: call("relay_1") })).toBe(false);
});

it("while there is no answer nothing is left out", () => {
  expect(repeatedPart(flow(), null)).toBeUndefined();
  expect(answerTo([{ kind: "call", id: "relay_1" }], 0)).toBeNull();
});

it("words with work behind them stay where they are, and the answer that repeats them is left out", () => {
  expect(repeatedPart(flow(""), "First I look.")).toBeUndefined();
  const calls = { relay_1: { ...call("relay_1"), copilotStream: flow("") } };
  expect(isRepetition([{ kind: "call", id: "relay_1" }, message("First I look.")], 1, calls)).toBe(true);
});

it("what a main AI delegates is not straight talk", () => {
  expect(isStraight(call("call_1"))).toBe(false);
  const entries: Entry[] = [{ kind: "call", id: "call_1" }, message("Something of its own.")];
  expect(isRepetition(entries, 1, { call_1: call("call_1") })).toBe(false);
});
