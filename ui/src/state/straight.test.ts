import { expect, it } from "vitest";
import type { Entry, MessageEntry, StreamingToolCall } from "./model";
import { isRepetition, isStraight } from "./straight";
import { newText } from "./text";

const message = (content: string) =>
  ({ kind: "message", id: "m", role: "assistant", text: newText(1, content) }) as MessageEntry;
const call = (id: string) => ({ id, name: "copilot_agent" }) as StreamingToolCall;
it("what the relay says in the agent's name is in the agent's flow, and not said twice", () => {
  const entries: Entry[] = [{ kind: "call", id: "relay_1" }, message("All done.")];
  expect(isRepetition(entries, 1, { relay_1: call("relay_1") })).toBe(true);
  expect(isRepetition(entries, 0, { relay_1: call("relay_1") })).toBe(false);
  const notice = { kind: "notice", id: "n", turnId: null, notice: {} } as Entry;
  const apart = [entries[0], notice, entries[1]] as Entry[];
  expect(isRepetition(apart, 2, { relay_1: call("relay_1") }), "with a notice in between").toBe(true);
});

it("what a main AI delegates is not straight talk", () => {
  expect(isStraight(call("call_1"))).toBe(false);
  const entries: Entry[] = [{ kind: "call", id: "call_1" }, message("Something of its own.")];
  expect(isRepetition(entries, 1, { call_1: call("call_1") })).toBe(false);
});
