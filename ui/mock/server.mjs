// A stand-in for the server, to look at the page without one: `npm run build && npm run mock`.
// Everything is in memory and scripted. POST /mock/drop ends all streams, as a restart would.

import { randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { attach, createSession, describe, emit, render, send, sessions } from "./sessions.mjs";
import { runTurn } from "./turn.mjs";

const dist = join(fileURLToPath(new URL(".", import.meta.url)), "..", "dist");
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const policy = "default-src 'self'; base-uri 'none'; frame-ancestors 'none'";
const port = Number(process.env.PORT ?? 8000);

class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

const need = (value, what) => {
  if (value === undefined) throw new Refusal(404, "not_found", `There is no such ${what}.`);
  return value;
};

const routes = [
  ["GET", "/api/health", () => ({ status: "ok", version: "mock" })],
  ["GET", "/api/agents", () => ({ agents, default: "copilot" })],
  ["GET", "/api/sessions", () => ({ sessions: [...sessions.values()].map(describe).sort(byActivity) })],
  ["POST", "/api/sessions", (_, body) => describe(createSession(body))],
  ["GET", "/api/sessions/:id", ({ session }) => describe(session)],
  ["PATCH", "/api/sessions/:id", changeSession],
  ["DELETE", "/api/sessions/:id", ({ id }) => void sessions.delete(id)],
  ["POST", "/api/sessions/:id/messages", acceptMessage],
  ["GET", "/api/sessions/:id/messages", olderMessages],
  ["GET", "/api/sessions/:id/messages/:item", oneMessage],
  ["GET", "/api/sessions/:id/queue", ({ session }) => ({ items: session.queue })],
  ["PATCH", "/api/sessions/:id/queue/:item", changeQueue],
  ["DELETE", "/api/sessions/:id/queue/:item", changeQueue],
  ["POST", "/api/sessions/:id/cancel", cancel],
  ["POST", "/api/sessions/:id/confirm", ({ session }, body) => answer(session.confirms, body.tool_call_id)],
  ["POST", "/api/sessions/:id/permissions/:item", permit],
  ["GET", "/api/artifacts/:item", artifact],
  ["POST", "/mock/drop", dropStreams],
];

const agents = [
  { id: "copilot", title: "GitHub Copilot", installed: true, version: "1.0.12" },
  { id: "demo", title: "Demo agent", installed: true, version: null },
  { id: "codex", title: "Codex", installed: false, version: null },
];

const byActivity = (a, b) => b.updated_at.localeCompare(a.updated_at);

function changeSession({ session }, body) {
  Object.assign(session.info, body);
  emit(session, "session", body);
  return describe(session);
}

function acceptMessage({ session }, { content, client_id }) {
  const known = session.accepted.get(client_id);
  if (known) return known;
  const message = { id: randomUUID(), role: "user", content, client_id, created_at: new Date().toISOString() };
  const answer = { message_id: message.id, turn_id: randomUUID(), queued: session.turn !== null };
  session.accepted.set(client_id, answer);
  if (session.info.title === "New session") changeSession({ session }, { title: content.slice(0, 60) });
  if (session.turn) {
    session.queue.push({
      message_id: message.id,
      turn_id: answer.turn_id,
      content,
      client_id,
      created_at: message.created_at,
    });
    emit(session, "queue", { items: session.queue });
  } else {
    void runTurn(session, message);
  }
  return answer;
}

function olderMessages({ session, url }) {
  const index = session.messages.findIndex((message) => message.id === url.searchParams.get("before"));
  const start = Math.max(0, index - Number(url.searchParams.get("limit") ?? 50));
  return { messages: session.messages.slice(start, Math.max(0, index)), more: start > 0 };
}

function oneMessage({ session, item }) {
  const open = session.openText?.id === item ? { ...session.openText, role: "assistant" } : undefined;
  const message = need(open ?? session.messages.find((message) => message.id === item), "message");
  return { ...message, html: render(message.content) };
}

function changeQueue({ session, item, method }, body) {
  const index = session.queue.findIndex((queued) => queued.message_id === item);
  if (index < 0) throw new Refusal(404, "not_found", "This message is no longer queued.");
  if (method === "DELETE") session.queue.splice(index, 1);
  else session.queue[index].content = body.content;
  emit(session, "queue", { items: session.queue });
}

function answer(pending, id) {
  const waiting = pending.get(id);
  if (!waiting) throw new Refusal(409, "gone", "This question has been answered already.");
  pending.delete(id);
  waiting.resolve();
}

function permit({ session, item }, body) {
  answer(session.permissions, item);
  emit(session, "permission-resolved", { request_id: item, option_id: body.option_id, by: "person" });
}

function cancel({ session }) {
  session.stopped = true;
  for (const waiting of [...session.permissions.values(), ...session.confirms.values()]) waiting.resolve();
}

function artifact({ item }) {
  const all = [...sessions.values()].flatMap((session) => session.artifacts);
  const { diff, ...found } = need(
    all.find((artifact) => artifact.artifact_id === item),
    "artifact",
  );
  const rows = diff.split("\n").slice(3).filter(Boolean);
  const kind = (line) => ({ "+": "add", "-": "del", "@": "hunk" })[line[0]] ?? "ctx";
  const cell = (line) =>
    `<tr class="${kind(line)}"><td class="num"></td><td class="num"></td><td class="sign">${line[0]}</td><td class="line">${render(line.slice(1)).replaceAll(/<\/?p>/g, "")}</td></tr>`;
  const diff_html = `<table class="diff"><tbody>${rows.map(cell).join("")}</tbody></table>`;
  return { ...found, files: found.files.map((file) => ({ ...file, binary: false, diff_html })) };
}

function dropStreams() {
  for (const session of sessions.values()) {
    for (const reader of session.readers) reader.end();
  }
}

function match(method, path) {
  for (const [wanted, pattern, handler] of routes) {
    const names = [];
    const source = pattern.replaceAll(/:(\w+)/g, (_, name) => {
      names.push(name);
      return "([^/]+)";
    });
    const found = wanted === method && new RegExp(`^${source}$`).exec(path);
    if (found) return { handler, params: Object.fromEntries(names.map((name, index) => [name, found[index + 1]])) };
  }
  return null;
}

async function readBody(request) {
  let text = "";
  for await (const piece of request) text += piece;
  return text === "" ? {} : JSON.parse(text);
}

function openStream(response, session, request, url) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const after = url.searchParams.get("after") ?? request.headers["last-event-id"];
  attach(session, response, after === undefined || after === null ? null : Number(after));
  const timer = setInterval(() => send(response, "keepalive", {}), 15_000);
  response.on("close", () => {
    clearInterval(timer);
    session.readers.delete(response);
  });
}

async function handle(request, response) {
  const url = new URL(request.url, "http://mock");
  const stream = /^\/api\/sessions\/([^/]+)\/stream$/.exec(url.pathname);
  if (stream) return openStream(response, need(sessions.get(stream[1]), "session"), request, url);
  const found = match(request.method, url.pathname);
  if (!found) return serveFile(response, url.pathname);
  const { params } = found;
  if (params.id !== undefined) params.session = need(sessions.get(params.id), "session");
  const context = { ...params, url, method: request.method };
  const result = found.handler(context, await readBody(request));
  response.writeHead(request.method === "POST" ? 202 : 200, { "content-type": "application/json" });
  response.end(result === undefined ? "" : JSON.stringify(result));
}

function serveFile(response, path) {
  const file = join(dist, normalize(path === "/" ? "/index.html" : path));
  if (!file.startsWith(dist) || !existsSync(file)) {
    response.writeHead(path === "/highlight.css" ? 200 : 404, { "content-type": "text/css" });
    return response.end();
  }
  response.writeHead(200, {
    "content-type": types[extname(file)] ?? "application/octet-stream",
    "content-security-policy": policy,
  });
  createReadStream(file).pipe(response);
}

createServer((request, response) => {
  handle(request, response).catch((error) => {
    const { status = 500, code = "internal", message } = error;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { code, message } }));
  });
}).listen(port, "127.0.0.1", () => {
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
});
