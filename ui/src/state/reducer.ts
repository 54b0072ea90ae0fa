// Folds the event stream into a session's state: no I/O, no clock. It changes the draft that it is given,
// which may be a plain object or one of Solid's.

import type { EventData, EventName, Message, StreamEvent, ToolCall } from "../api/types";
import { addText, addUpdate, newFlow } from "./flow";
import { emptyState, findMessage, type MessageEntry, type SessionState, type StreamingToolCall } from "./model";
import { checkLogin, endLogin, endLoginOf, receiveError, receiveNotice, tellEnding } from "./notices";
import { append, newText, unseen, wholeText } from "./text";

/** `gap`: something before this event is missing, and only a fresh snapshot helps. */
export type Outcome = "ok" | "gap";

/** `now` is null for what is told anew: when that happened is said by the messages, or not known. */
type Handlers = {
  [Name in EventName]?: (state: SessionState, data: EventData[Name], now: string | null) => Outcome | undefined;
};

export function apply(state: SessionState, event: StreamEvent, now: string | null = null): Outcome {
  const handler = handlers[event.event] as
    | ((state: SessionState, data: StreamEvent["data"], now: string | null) => Outcome | undefined)
    | undefined;
  return handler?.(state, event.data, now) ?? "ok";
}

const handlers: Handlers = {
  message: receiveMessage,
  "text-delta"(state, { message_id, offset, content }) {
    const entry = findMessage(state, message_id);
    const fresh = unseen(entry?.text.length ?? 0, offset, content);
    if (fresh === null) return "gap";
    if (entry) append(entry.text, fresh);
    else if (fresh !== "") state.entries.push(newMessage(state, message_id, "assistant", fresh, true));
    return "ok";
  },
  superseded(state, { message_id }) {
    const index = state.entries.findLastIndex((entry) => entry.kind === "message" && entry.id === message_id);
    if (index >= 0) state.entries.splice(index, 1);
    return "ok";
  },
  "tool-call"(state, call, now) {
    endStreaming(state);
    const known = ensureCall(state, call);
    known.startedAt ??= now;
    known.abandoned = false;
    return "ok";
  },
  "tool-confirm"(state, call) {
    ensureCall(state, call);
    if (!state.confirms.some((confirm) => confirm.id === call.id)) state.confirms.push(call);
    return "ok";
  },
  "tool-stopping"(state, { id }) {
    const call = state.calls[id];
    if (call) call.stopping = true;
    return "ok";
  },
  "tool-result"(state, result, now) {
    const call = ensureCall(state, { id: result.id, name: result.name, arguments: "" });
    call.endedAt ??= now;
    finishCall(state, call, result);
    return "ok";
  },
  "copilot-delta"(state, { tool_call_id, session_name, offset, content }) {
    const flow = ensureFlow(state, tool_call_id, session_name);
    // A snapshot names open calls with what they have said, which may be nothing.
    if (content !== "") endLoginOf(state, tool_call_id);
    return addText(flow, offset, content) ? "ok" : "gap";
  },
  "copilot-done"(
    state,
    { tool_call_id, session_name, agent, summary, stop_reason, ending, waited_ms, turn_waited_ms },
    now,
  ) {
    ensureFlow(state, tool_call_id, session_name);
    const call = ensureDelegation(state, tool_call_id);
    call.copilotDone = { stopReason: stop_reason, summary, agent: agent ?? "", ending: ending ?? null };
    call.waitedMs = waited_ms ?? 0;
    call.turnWaitedMs = turn_waited_ms ?? null;
    call.endedAt ??= now;
    state.agentNews += 1;
    return "ok";
  },
  "agent-update"(state, { tool_call_id, session_name, offset, update, times }) {
    addUpdate(ensureFlow(state, tool_call_id, session_name), offset, update, times);
    if (update.type === "mode" || update.type === "options") state.agentNews += 1;
    endLoginOf(state, tool_call_id);
    return "ok";
  },
  "permission-request"(state, request) {
    if (!state.permissions.some((known) => known.request_id === request.request_id)) state.permissions.push(request);
    return "ok";
  },
  "permission-held"(state, { request_id, until }) {
    state.holds[request_id] = until;
    return "ok";
  },
  "permission-pending"(state, { request_id }) {
    delete state.holds[request_id];
    return "ok";
  },
  "permission-resolved"(state, { request_id }) {
    delete state.holds[request_id];
    state.permissions = state.permissions.filter((request) => request.request_id !== request_id);
    return "ok";
  },
  turn(state, turn) {
    const goesOn = turn.state === "running" && turn.turn_id === state.runningTurn;
    // A snapshot names the calls that are still open after this.
    if (!goesOn) abandonOpenCalls(state);
    state.cancelling = turn.state === "running" && turn.reason === "cancelling";
    state.lastTurn = turn.turn_id;
    if (turn.state === "running") {
      state.runningTurn = turn.turn_id;
      return "ok";
    }
    state.runningTurn = null;
    state.confirms = [];
    state.permissions = [];
    state.holds = {};
    endStreaming(state);
    endLogin(state);
    tellEnding(state, turn);
    return "ok";
  },
  waits(state, { changed }) {
    for (const { tool_call_id, agent_call, waited_ms } of changed) {
      const call = tool_call_id == null ? undefined : state.calls[tool_call_id];
      if (call && agent_call == null) call.waitedMs = waited_ms;
    }
    return "ok";
  },
  queue(state, { items, held }) {
    state.held = held ?? false;
    // An item that stays keeps its identity, and with it the edit that somebody has begun.
    state.queue = items.map((item) => {
      const known = state.queue.find((queued) => queued.message_id === item.message_id);
      return known ? Object.assign(known, item) : item;
    });
    return "ok";
  },
  notice(state, notice) {
    if (notice.code === "agent_option") state.agentNews += 1;
    receiveNotice(state, notice);
    return "ok";
  },
  session(state, change) {
    for (const [field, value] of Object.entries(change)) {
      // Only of the policy does null say something: that the server's holds again.
      if (value !== null || field === "permission_policy") Object.assign(state.session, { [field]: value });
    }
    return "ok";
  },
  "review-artifact"(state, artifact) {
    const id = artifact.artifact_id;
    const known = id in state.artifacts;
    state.artifacts[id] = artifact;
    const claimed = Object.values(state.calls).some((call) => call.artifactId === id);
    // In a snapshot the call that made it may be on an older page.
    if (state.ready && !known && !claimed) state.entries.push({ kind: "artifact", id });
    return "ok";
  },
  done(state, { message_id }) {
    const entry = findMessage(state, message_id);
    if (entry) entry.streaming = false;
    return "ok";
  },
  error(state, error) {
    receiveError(state, error);
    return "ok";
  },
  ready(state) {
    state.ready = true;
    if (state.runningTurn === null) abandonOpenCalls(state);
    checkLogin(state);
    return "ok";
  },
  reset(state) {
    Object.assign(state, emptyState(state.epoch + 1));
    return "ok";
  },
};

function receiveMessage(state: SessionState, message: Message): Outcome {
  state.oldestMessage ??= message.id;
  if (message.turn_id != null) state.lastTurn = message.turn_id;
  if (message.role === "tool") {
    receiveToolMessage(state, message);
    return "ok";
  }
  let entry = findMessage(state, message.id);
  // A step that only called tools has no text to show.
  if (!entry && (message.role === "user" || message.content !== "")) {
    state.entries.push(newMessage(state, message.id, message.role, message.content, false));
    entry = findMessage(state, message.id);
  }
  if (entry) {
    if (wholeText(entry.text) !== message.content) {
      // The final text decides; a new version makes the view draw it from the start.
      entry.text = newText(entry.text.version + 0.5, message.content);
    }
    entry.createdAt = message.created_at;
    entry.clientId = message.client_id ?? null;
    entry.turnId = message.turn_id ?? null;
    entry.attachments = message.attachments ?? [];
    entry.streaming = false;
  }
  for (const call of message.tool_calls ?? []) ensureCall(state, call).startedAt ??= message.created_at;
  return "ok";
}

function receiveToolMessage(state: SessionState, message: Message): void {
  if (message.tool_call_id == null) return;
  const { delegation, display, content } = message;
  const name = delegation ? "copilot_agent" : "tool";
  const call = ensureCall(state, { id: message.tool_call_id, name, arguments: "" });
  if (delegation && call.copilotDone === null) {
    const flow = newFlow(state.epoch);
    addText(flow, 0, display ?? content);
    for (const placed of delegation.updates ?? []) addUpdate(flow, placed.offset, placed.update, placed.times);
    call.copilotStream = flow;
    call.copilotSessionName = delegation.session_name;
    call.copilotDone = {
      stopReason: delegation.stop_reason,
      summary: delegation.summary,
      agent: delegation.agent ?? "",
      ending: delegation.ending ?? null,
    };
    call.waitedMs = delegation.waited_ms ?? 0;
    call.turnWaitedMs = delegation.turn_waited_ms ?? null;
  }
  call.endedAt ??= message.created_at;
  finishCall(state, call, message);
}

type Result = Pick<Message, "content" | "display" | "is_error" | "artifact_id">;

function finishCall(state: SessionState, call: StreamingToolCall, result: Result): void {
  const { content, display, is_error, artifact_id } = result;
  call.result = content;
  call.display = display ?? null;
  call.isError = is_error ?? false;
  call.artifactId = artifact_id ?? null;
  call.abandoned = false;
  if (call.copilotStream && call.copilotStream.length === 0 && display != null) {
    addText(call.copilotStream, 0, display);
  }
  state.confirms = state.confirms.filter((confirm) => confirm.id !== call.id);
  state.permissions = state.permissions.filter((request) => request.tool_call_id !== call.id);
  if (artifact_id != null) {
    const loose = state.entries.findLastIndex((entry) => entry.kind === "artifact" && entry.id === artifact_id);
    if (loose >= 0) state.entries.splice(loose, 1);
  }
}

function newMessage(
  state: SessionState,
  id: string,
  role: "user" | "assistant",
  content: string,
  streaming: boolean,
): MessageEntry {
  const text = newText(state.epoch, content);
  return {
    kind: "message",
    id,
    role,
    text,
    createdAt: null,
    clientId: null,
    turnId: null,
    attachments: [],
    streaming,
  };
}

/** The call of that id, made and put at the end if it is new; fills in what was not known of it. */
function ensureCall(state: SessionState, { id, name, arguments: args }: ToolCall): StreamingToolCall {
  const known = state.calls[id];
  if (known) {
    if (known.arguments === "" && args !== "") {
      known.name = name;
      known.arguments = args;
    }
    return known;
  }
  state.entries.push({ kind: "call", id });
  state.calls[id] = {
    id,
    name,
    arguments: args,
    result: null,
    display: null,
    isError: false,
    artifactId: null,
    copilotStream: null,
    copilotDone: null,
    copilotSessionName: null,
    abandoned: false,
    recovered: false,
    stopping: false,
    startedAt: null,
    endedAt: null,
    waitedMs: 0,
    turnWaitedMs: null,
  };
  return state.calls[id];
}

function ensureDelegation(state: SessionState, id: string): StreamingToolCall {
  return ensureCall(state, { id, name: "copilot_agent", arguments: "" });
}

function ensureFlow(state: SessionState, id: string, sessionName: string) {
  const call = ensureDelegation(state, id);
  call.copilotSessionName = sessionName;
  call.abandoned = false;
  call.copilotStream ??= newFlow(state.epoch);
  return call.copilotStream;
}

function endStreaming(state: SessionState): void {
  // Only the latest text can still be open.
  const entry = state.entries.findLast((entry): entry is MessageEntry => entry.kind === "message");
  if (entry) entry.streaming = false;
}

function abandonOpenCalls(state: SessionState): void {
  for (const call of Object.values(state.calls)) {
    if (call.result === null) call.abandoned = true;
  }
}
