import { expect, it } from "vitest";
import type { Message, ReviewArtifact } from "../api/types";
import { applyDropOldest, applyOlder } from "./local";
import { emptyState } from "./model";
import { apply } from "./reducer";

const message = (id: number, fields: Partial<Message>): Message =>
  ({ id: `m${id}`, role: "user", content: `text ${id}`, created_at: "2026-01-01T00:00:00Z", ...fields }) as Message;

/** Turns of a question, a call and an answer. */
function talk(turns: number) {
  const messages: Message[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const call = { id: `c${turn}`, name: "read_file", arguments: "{}" };
    messages.push(message(messages.length, {}));
    messages.push(message(messages.length, { role: "assistant", content: "", tool_calls: [call] }));
    messages.push(message(messages.length, { role: "tool", tool_call_id: call.id, content: "result" }));
    messages.push(message(messages.length, { role: "assistant" }));
  }
  const state = emptyState(0);
  for (const data of messages) apply(state, { event: "message", data });
  apply(state, { event: "ready", data: { seq: 1 } });
  return { state, messages };
}

it("what is far above the end is dropped in whole turns, and comes back as older messages do", () => {
  const { state, messages } = talk(400);
  const before = state.entries.map(({ kind, ...entry }) => [kind, "id" in entry ? entry.id : ""]);
  applyDropOldest(state);
  expect(state.entries.length).toBeLessThanOrEqual(300);
  expect(state.entries[0]).toMatchObject({ kind: "message", role: "user", id: state.oldestMessage });
  expect(Object.keys(state.calls).length).toBe(state.entries.filter(({ kind }) => kind === "call").length);
  expect(state.moreBefore).toBe(true);

  const older = messages.slice(
    0,
    messages.findIndex(({ id }) => id === state.oldestMessage),
  );
  applyOlder(state, older, false);
  expect(state.entries.map(({ kind, ...entry }) => [kind, "id" in entry ? entry.id : ""])).toEqual(before);
});

it("a conversation of ordinary length is kept whole", () => {
  const { state } = talk(100);
  applyDropOldest(state);
  expect(state.entries.length).toBe(300);
  expect(state.oldestMessage).toBe("m0");
});

it("the changes that older messages name come with them, and what is known already stays", () => {
  const { state } = talk(1);
  const artifact = (id: string, title: string) => ({ artifact_id: id, title }) as ReviewArtifact;
  state.artifacts.known = artifact("known", "as the stream told it");
  applyOlder(state, [], false, [artifact("known", "older"), artifact("new", "of an older message")]);
  expect(Object.values(state.artifacts).map(({ title }) => title)).toEqual([
    "as the stream told it",
    "of an older message",
  ]);
});
