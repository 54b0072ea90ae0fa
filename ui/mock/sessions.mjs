// Sessions in memory with an event log each: append, then tell the readers. Speaks the contract's words.

import { randomUUID } from "node:crypto";

export const sessions = new Map();

export function createSession(draft = {}) {
  const now = new Date().toISOString();
  const session = {
    info: {
      id: randomUUID(),
      title: draft.title ?? "New session",
      work_dir: "/work/demo",
      model: draft.model ?? "relay",
      agent: draft.agent ?? "copilot",
      permission_policy: draft.permission_policy ?? "ask",
      created_at: now,
      updated_at: now,
    },
    log: [],
    readers: new Set(),
    messages: [],
    artifacts: [],
    queue: [],
    accepted: new Map(),
    turn: null,
    openText: null,
    openCalls: new Map(),
    permissions: new Map(),
    confirms: new Map(),
  };
  sessions.set(session.info.id, session);
  return session;
}

export function describe(session) {
  return {
    ...session.info,
    running: session.turn !== null,
    queue_len: session.queue.length,
    waiting: session.permissions.size + session.confirms.size > 0,
  };
}

export function emit(session, event, data) {
  const entry = { seq: session.log.length + 1, event, data };
  session.log.push(entry);
  session.info.updated_at = new Date().toISOString();
  for (const reader of session.readers) send(reader, event, data, entry.seq);
}

export function send(response, event, data, id) {
  response.write(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

export function attach(session, response, after) {
  const upTo = session.log.length;
  if (after !== null && after <= upTo) {
    for (const entry of session.log.slice(after)) send(response, entry.event, entry.data, entry.seq);
  } else {
    if (after !== null) send(response, "reset", {});
    snapshot(session, response);
  }
  send(response, "ready", { seq: upTo }, upTo);
  session.readers.add(response);
}

function snapshot(session, response) {
  for (const message of session.messages.slice(-50)) send(response, "message", message);
  for (const { diff: _, ...artifact } of session.artifacts) send(response, "review-artifact", artifact);
  if (session.turn) send(response, "turn", { turn_id: session.turn, state: "running" });
  if (session.openText) {
    send(response, "text-delta", { message_id: session.openText.id, offset: 0, content: session.openText.content });
  }
  for (const call of session.openCalls.values()) {
    send(response, "tool-call", { id: call.id, name: call.name, arguments: call.arguments });
    if (call.name !== "copilot_agent") continue;
    const common = { tool_call_id: call.id, session_name: call.session_name };
    send(response, "copilot-delta", { ...common, offset: 0, content: call.text });
    for (const placed of call.updates) send(response, "agent-update", { ...common, ...placed });
  }
  for (const confirm of session.confirms.values()) send(response, "tool-confirm", confirm.data);
  for (const permission of session.permissions.values()) send(response, "permission-request", permission.data);
  send(response, "queue", { items: session.queue });
}

/** Enough of markdown to look at; the real server renders the real thing. */
export function render(text) {
  const quote = (part) => part.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return quote(text)
    .split(/\n\n+/)
    .map((block) => {
      if (block.startsWith("```")) {
        const code = block.replace(/^```\w*\n?/, "").replace(/\n?```$/, "");
        return `<pre class="code"><code class="language-rust">${code}</code></pre>`;
      }
      const inline = block
        .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
        .replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
      if (block.startsWith("- ")) {
        return `<ul>${inline
          .split("\n")
          .map((line) => `<li>${line.slice(2)}</li>`)
          .join("")}</ul>`;
      }
      return `<p>${inline}</p>`;
    })
    .join("\n");
}
