// What a server sends to a client without a cursor, made from the log up to that point. For tests only.

import type { EventData, Message, PlacedUpdate, StreamEvent, ToolCall } from "../../api/types";

interface OpenCall {
  call: ToolCall;
  session_name: string | null;
  text: string;
  updates: PlacedUpdate[];
  done: EventData["copilot-done"] | null;
}

const time = "2026-01-01T00:00:00Z";

/** Reads the log as the server would keep it: messages, and what is open. */
export function snapshotOf(log: StreamEvent[]): StreamEvent[] {
  const messages: Message[] = [];
  const open = new Map<string, OpenCall>();
  const confirms = new Map<string, ToolCall>();
  const permissions = new Map<string, EventData["permission-request"]>();
  let text = null as { id: string; content: string } | null;
  let turn = null as string | null;
  let queue: EventData["queue"] = { items: [] };

  for (const { event, data } of log) {
    switch (event) {
      case "message":
        messages.push(data);
        text = null;
        break;
      case "text-delta":
        text = { id: data.message_id, content: (text?.id === data.message_id ? text.content : "") + data.content };
        break;
      case "superseded":
        text = null;
        break;
      case "tool-call":
        messages.push({
          id: text?.id ?? `step-of-${data.id}`,
          role: "assistant",
          content: text?.content ?? "",
          created_at: time,
          tool_calls: [data],
        });
        text = null;
        open.set(data.id, { call: data, session_name: null, text: "", updates: [], done: null });
        break;
      case "tool-confirm":
        confirms.set(data.id, data);
        break;
      case "copilot-delta":
        change(open, data, (call) => {
          call.text += data.content;
        });
        break;
      case "agent-update":
        change(open, data, (call) => keep(call.updates, data));
        break;
      case "copilot-done":
        change(open, data, (call) => {
          call.done = data;
        });
        break;
      case "tool-result":
        messages.push(toolMessage(data, open.get(data.id)));
        open.delete(data.id);
        confirms.delete(data.id);
        for (const [id, request] of permissions) if (request.tool_call_id === data.id) permissions.delete(id);
        break;
      case "permission-request":
        permissions.set(data.request_id, data);
        break;
      case "permission-resolved":
        permissions.delete(data.request_id);
        break;
      case "turn":
        turn = data.state === "running" ? data.turn_id : null;
        break;
      case "queue":
        queue = data;
        break;
    }
  }

  const events: StreamEvent[] = messages.map((data) => ({ event: "message", data }));
  if (turn) events.push({ event: "turn", data: { turn_id: turn, state: "running" } });
  if (text) events.push({ event: "text-delta", data: { message_id: text.id, offset: 0, content: text.content } });
  for (const call of open.values()) events.push(...openCallEvents(call));
  for (const data of confirms.values()) events.push({ event: "tool-confirm", data });
  for (const data of permissions.values()) events.push({ event: "permission-request", data });
  events.push({ event: "queue", data: queue }, { event: "ready", data: { seq: log.length } });
  return events;
}

/** A tool call is stored once, as it was reported last, with what came of its output. */
function keep(updates: PlacedUpdate[], { offset, update }: PlacedUpdate): void {
  const isCall = update.type === "tool_call" || update.type === "tool_output";
  const known = updates.find(
    (placed) => isCall && placed.update.type === "tool_call" && placed.update.id === update.id,
  );
  if (known?.update.type !== "tool_call") {
    updates.push({ offset, update });
    return;
  }
  const { stream = "", stream_length = 0 } = known.update;
  if (update.type === "tool_output") {
    const output = { stream: stream + update.content, stream_length: stream_length + update.content.length };
    known.update = { ...known.update, ...output };
  } else if (update.type === "tool_call") {
    known.update = stream_length > 0 ? { ...update, stream, stream_length } : update;
  }
}

function change(
  open: Map<string, OpenCall>,
  data: { tool_call_id: string; session_name: string },
  run: (call: OpenCall) => void,
): void {
  const call = open.get(data.tool_call_id);
  if (!call) throw new Error(`the log names an unknown call: ${data.tool_call_id}`);
  call.session_name = data.session_name;
  run(call);
}

function toolMessage(result: EventData["tool-result"], open: OpenCall | undefined): Message {
  const { id, content, display, is_error } = result;
  const message: Message = {
    id: `result-of-${id}`,
    role: "tool",
    content,
    created_at: time,
    tool_call_id: id,
    is_error,
  };
  if (display !== undefined) message.display = display;
  if (open?.done) {
    const { session_name, stop_reason, summary } = open.done;
    message.delegation = { session_name, stop_reason, summary, updates: open.updates };
  }
  return message;
}

function openCallEvents(open: OpenCall): StreamEvent[] {
  const events: StreamEvent[] = [{ event: "tool-call", data: open.call }];
  if (open.session_name === null) return events;
  const common = { tool_call_id: open.call.id, session_name: open.session_name };
  events.push({ event: "copilot-delta", data: { ...common, offset: 0, content: open.text } });
  for (const placed of open.updates) events.push({ event: "agent-update", data: { ...common, ...placed } });
  if (open.done) events.push({ event: "copilot-done", data: open.done });
  return events;
}
