// Calls the server. Knows addresses and errors, nothing of the page.

import type {
  Accepted,
  Agent,
  AgentSession,
  Artifact,
  AuditPage,
  Catalogue,
  ConversationList,
  Device,
  DeviceKind,
  DeviceLink,
  Files,
  Message,
  MessagePage,
  NewAttachment,
  PermissionAnswer,
  Policy,
  QueueItem,
  RuleList,
  ServerInfo,
  Session,
  SessionChange,
  SessionDraft,
  SessionList,
  TraceEntry,
  TraceFilter,
  TraceList,
  Trust,
} from "./types";

/** The server answered, and said no. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Nobody answered: the same call may be tried again. */
export class NetworkError extends Error {}

const unreachable = "The server cannot be reached.";

const answer_timeout_ms = 30_000;
/** An agent that is slow to start, or has much to repeat. */
const start_timeout_ms = 120_000;
/** Every agent there is, some at a time. */
const ask_timeout_ms = 600_000;
/** Photos from a phone on the road. */
const upload_timeout_ms = 300_000;
let reportSignedOut = (_code: string) => {};

/** Who is told, with the server's code for it, when the server no longer lets this browser in. */
export function onSignedOut(report: (code: string) => void): void {
  reportSignedOut = report;
}

let pageKey: string | null = null;

/** What tells this page from whoever else got hold of its cookie: goes along with every call from now on. */
export function setPageKey(key: string | null): void {
  pageKey = key;
}

/** An address for what sends no headers: streams, pictures, downloads. */
function withKey(path: string): string {
  if (pageKey === null) return path;
  return `${path}${path.includes("?") ? "&" : "?"}key=${encodeURIComponent(pageKey)}`;
}

const headers = (more: Record<string, string> = {}): Record<string, string> =>
  pageKey === null ? more : { ...more, "x-voxpilot-key": pageKey };

let isAway = false;
const waiting = new Set<() => void>();

/** Tells of the first answer after a time without any. Returns how to stop. */
export function onBack(report: () => void): () => void {
  waiting.add(report);
  return () => waiting.delete(report);
}

function noteAnswer(answered: boolean): void {
  const isBack = answered && isAway;
  isAway = !answered;
  if (isBack) for (const report of waiting) report();
}

async function call<T>(method: string, path: string, body?: unknown, timeout_ms = answer_timeout_ms): Promise<T> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      credentials: "same-origin",
      headers: headers(body === undefined ? {} : { "content-type": "application/json" }),
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeout_ms),
    });
    text = await response.text();
  } catch {
    noteAnswer(false);
    throw new NetworkError(unreachable);
  }
  const failure = response.ok ? null : readFailure(response.status, text);
  noteAnswer(!(failure instanceof NetworkError));
  if (failure) throw failure;
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

function readFailure(status: number, text: string): Error {
  // A proxy in front of a server that restarts answers for it; that is the same as no answer.
  if ([502, 503, 504].includes(status) && !isApiError(text)) return new NetworkError(unreachable);
  const error = readError(status, text);
  if (status === 401) reportSignedOut(error.code);
  return error;
}

/** A call whose answer is a text that is read while it grows. Ends with the text, or when `signal` says so. */
async function read(path: string, onText: (text: string) => void, signal: AbortSignal): Promise<void> {
  try {
    const response = await fetch(path, { method: "POST", credentials: "same-origin", headers: headers(), signal });
    if (!response.ok) throw readFailure(response.status, await response.text());
    const decoder = new TextDecoder();
    const reader = response.body?.getReader();
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
      onText(decoder.decode(piece.value, { stream: true }));
    }
  } catch (error) {
    throw error instanceof ApiError ? error : new NetworkError(unreachable);
  }
}

function isApiError(text: string): boolean {
  try {
    return typeof JSON.parse(text).error?.message === "string";
  } catch {
    return false;
  }
}

function readError(status: number, text: string): ApiError {
  if (!isApiError(text)) return new ApiError(status, "unexpected", `The server answered with status ${status}.`);
  const { code, message } = JSON.parse(text).error;
  return new ApiError(status, String(code), message);
}

const device = (id: string) => `/api/devices/${encodeURIComponent(id)}`;
const session = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;

export const api = {
  sessions: (limit: number, before?: string) =>
    call<SessionList>(
      "GET",
      `/api/sessions?limit=${limit}${before === undefined ? "" : `&before=${encodeURIComponent(before)}`}`,
    ),
  session: (id: string) => call<Session>("GET", session(id)),
  createSession: (draft: SessionDraft) => call<Session>("POST", "/api/sessions", draft, start_timeout_ms),
  changeSession: (id: string, change: SessionChange) => call<Session>("PATCH", session(id), change),
  deleteSession: (id: string) => call<void>("DELETE", session(id)),

  streamUrl: (id: string, after: number | null) =>
    withKey(`${session(id)}/stream${after === null ? "" : `?after=${after}`}`),
  messages: (id: string, before: string, limit: number) =>
    call<MessagePage>("GET", `${session(id)}/messages?before=${encodeURIComponent(before)}&limit=${limit}`),
  message: (id: string, message: string) =>
    call<Message>("GET", `${session(id)}/messages/${encodeURIComponent(message)}`),
  send: (id: string, content: string, client_id: string, attachments: NewAttachment[] = []) =>
    attachments.length === 0
      ? call<Accepted>("POST", `${session(id)}/messages`, { content, client_id })
      : call<Accepted>("POST", `${session(id)}/messages`, { content, client_id, attachments }, upload_timeout_ms),
  attachmentUrl: (id: string, attachment: string) =>
    withKey(`${session(id)}/attachments/${encodeURIComponent(attachment)}`),
  files: (id: string, query: string) => call<Files>("GET", `${session(id)}/files?query=${encodeURIComponent(query)}`),
  cancel: (id: string, tool_call_id?: string) =>
    call<void>("POST", `${session(id)}/cancel`, tool_call_id === undefined ? {} : { tool_call_id }),

  queue: (id: string) => call<{ items: QueueItem[] }>("GET", `${session(id)}/queue`),
  editQueued: (id: string, message: string, content: string) =>
    call<void>("PATCH", `${session(id)}/queue/${encodeURIComponent(message)}`, { content }),
  withdrawQueued: (id: string, message: string) =>
    call<void>("DELETE", `${session(id)}/queue/${encodeURIComponent(message)}`),

  confirm: (id: string, tool_call_id: string, approved: boolean) =>
    call<void>("POST", `${session(id)}/confirm`, { tool_call_id, approved }),
  permit: (id: string, request: string, answer: PermissionAnswer) =>
    call<void>("POST", `${session(id)}/permissions/${encodeURIComponent(request)}`, answer),
  rules: (id: string) => call<RuleList>("GET", `${session(id)}/permission-rules`),
  revokeRule: (id: string, rule: string) =>
    call<void>("DELETE", `${session(id)}/permission-rules/${encodeURIComponent(rule)}`),

  trace: (id: string, filter: TraceFilter, before?: string) => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...filter, before })) if (value) query.set(name, value);
    return call<TraceList>("GET", `${session(id)}/trace?${query}`);
  },
  traceEntry: (id: string, runner: string, seq: number) =>
    call<TraceEntry>("GET", `${session(id)}/trace/${encodeURIComponent(runner)}/${seq}`),
  captureUrl: (id: string) => withKey(`${session(id)}/trace/capture`),
  agentSessions: (id: string) => call<{ agents: AgentSession[] }>("GET", `${session(id)}/agents`),
  setAgent: (id: string, name: string, options: Record<string, string | boolean>) =>
    call<AgentSession>("PATCH", `${session(id)}/agents/${encodeURIComponent(name)}`, { options }),

  artifact: (id: string) => call<Artifact>("GET", `/api/artifacts/${encodeURIComponent(id)}`),
  agents: () => call<Catalogue>("GET", "/api/agents"),
  /** Whether its package may be downloaded when it is started. */
  allowNpx: (agent: string, allowed: boolean) =>
    call<Agent>("POST", `/api/agents/${encodeURIComponent(agent)}/npx`, { allowed }),
  conversations: () => call<ConversationList>("GET", "/api/conversations"),
  /** With what the agents keep by themselves; they have to be started for that. */
  askAgents: () => call<ConversationList>("POST", "/api/conversations", {}, ask_timeout_ms),
  login: (agent: string, onText: (text: string) => void, signal: AbortSignal) =>
    read(`/api/agents/${encodeURIComponent(agent)}/login`, onText, signal),
  /** The login was done elsewhere. */
  loggedIn: (agent: string) =>
    read(`/api/agents/${encodeURIComponent(agent)}/login?done=true`, () => {}, AbortSignal.timeout(answer_timeout_ms)),

  bindKey: (key: string) => call<void>("POST", "/api/devices/key", { key }),
  devices: () => call<{ devices: Device[] }>("GET", "/api/devices"),
  renameDevice: (id: string, name: string) => call<void>("PATCH", device(id), { name }),
  revokeDevice: (id: string) => call<void>("DELETE", device(id)),
  makeLink: (kind: DeviceKind) => call<DeviceLink>("POST", "/api/devices/link", { kind }),
  logout: () => call<void>("POST", "/api/logout"),
  audit: (limit: number, before?: number) =>
    call<AuditPage>("GET", `/api/audit?limit=${limit}${before === undefined ? "" : `&before=${before}`}`),

  server: () => call<ServerInfo>("GET", "/api/server"),
  choosePolicy: (permission_policy: Policy) => call<void>("PATCH", "/api/server", { permission_policy }),
  trust: () => call<Trust>("GET", "/api/trust"),
  consent: (hash: string) => call<void>("POST", "/api/trust", { hash }),
  revokeTrust: () => call<void>("DELETE", "/api/trust"),
};

/** What to tell a person about a call that failed. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : "Something went wrong.";
}
