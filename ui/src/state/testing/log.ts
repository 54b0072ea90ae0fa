// A session's log, made up from a seed, and the snapshot that a server would send at any point of it.
// For tests only.

import type { Message, QueueItem, StreamEvent, ToolCall, Update } from "../../api/types";

export type Random = () => number;

/** Mulberry32: small, and the same on every machine. */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const words = ["fix ", "the ", "naïve ", "parser\n", "😀 ", "`code` ", "日本 ", "done. "];
const time = "2026-01-01T00:00:00Z";

export function makeLog(random: Random, turns = 3): StreamEvent[] {
  const log: StreamEvent[] = [];
  let ids = 0;
  const id = (kind: string) => `${kind}-${++ids}`;
  const below = (limit: number) => Math.floor(random() * limit);
  const word = () => words[below(words.length)] ?? "";
  const emit = (event: StreamEvent) => void log.push(event);

  function speak(message_id: string): string {
    let content = "";
    for (let count = 1 + below(6); count > 0; count--) {
      const piece = word() + word();
      emit({ event: "text-delta", data: { message_id, offset: content.length, content: piece } });
      content += piece;
    }
    return content;
  }

  function plainCall(turn: number): void {
    const call: ToolCall = { id: id("call"), name: "read_file", arguments: `{"path":"${turn}.rs"}` };
    emit({ event: "tool-call", data: call });
    if (below(2) === 0) emit({ event: "tool-confirm", data: call });
    const is_error = below(4) === 0;
    emit({ event: "tool-result", data: { id: call.id, name: call.name, content: word(), is_error } });
  }

  function delegation(): void {
    const session_name = word().trim() || "name";
    const call = { id: id("call"), name: "copilot_agent", arguments: JSON.stringify({ prompt: word(), session_name }) };
    emit({ event: "tool-call", data: call });
    const common = { tool_call_id: call.id, session_name };
    let text = "";
    const agentCalls: string[] = [];
    const printed = new Map<string, number>();
    for (let count = below(14); count > 0; count--) {
      const kind = below(8);
      if (kind < 3) {
        const content = word() + word();
        emit({ event: "copilot-delta", data: { ...common, offset: text.length, content } });
        text += content;
        continue;
      }
      let update: Update = { type: "thought", text: word() };
      if (kind === 4) update = { type: "plan", entries: [{ content: word(), priority: "low", status: "pending" }] };
      if (kind === 5) {
        const known = agentCalls[below(agentCalls.length + 1)] ?? id("agent-call");
        if (!agentCalls.includes(known)) agentCalls.push(known);
        update = { type: "tool_call", id: known, title: word(), status: "in_progress" };
      }
      if (kind === 6) {
        const printing = agentCalls[below(agentCalls.length)] ?? "";
        if (printing === "") continue;
        const offset = printed.get(printing) ?? 0;
        update = { type: "tool_output", id: printing, offset, content: word() + word() };
        printed.set(printing, offset + update.content.length);
      }
      if (kind === 7) update = { type: "approved", title: word(), by: "policy" };
      emit({ event: "agent-update", data: { ...common, offset: text.length, update } });
      if (below(6) === 0) askPermission(common);
    }
    const summary = word();
    emit({
      event: "copilot-done",
      data: { ...common, summary, stop_reason: below(4) === 0 ? "cancelled" : "end_turn" },
    });
    emit({
      event: "tool-result",
      data: { id: call.id, name: call.name, content: summary, display: text, is_error: false },
    });
  }

  function askPermission(common: { tool_call_id: string; session_name: string }): void {
    const request_id = id("permission");
    emit({ event: "permission-request", data: { ...common, request_id, title: word(), options: [] } });
    if (below(2) === 0) emit({ event: "permission-resolved", data: { request_id, by: "person" } });
  }

  for (let turn = 0; turn < turns; turn++) {
    const turn_id = id("turn");
    const user: Message = { id: id("message"), role: "user", content: word(), created_at: time, turn_id };
    emit({ event: "queue", data: { items: [] } });
    emit({ event: "message", data: user });
    emit({ event: "turn", data: { turn_id, state: "running" } });
    for (let steps = below(3); steps > 0; steps--) {
      if (below(3) > 0) speak(id("message"));
      if (below(2) === 0) delegation();
      else plainCall(turn);
      const waiting: QueueItem = { message_id: id("message"), turn_id: id("turn"), content: word(), created_at: time };
      if (below(3) === 0) emit({ event: "queue", data: { items: [waiting] } });
    }
    const message_id = id("message");
    if (below(5) === 0) {
      speak(message_id);
      emit({ event: "superseded", data: { message_id } });
    }
    const last = id("message");
    const content = speak(last);
    const html = `<p>${content}</p>`;
    emit({ event: "message", data: { id: last, role: "assistant", content, html, created_at: time, turn_id } });
    emit({ event: "done", data: { turn_id, message_id: last, model: "m", html } });
    emit({ event: "turn", data: { turn_id, state: "completed" } });
  }
  return log;
}
