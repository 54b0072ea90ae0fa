// Calls the server. Knows addresses and errors, nothing of the page. Addresses, queries and bodies are checked against the
// server's own description (`schema.ts`): one that it does not know does not compile.

import { address } from "./address";
import { createClient, type Fetch } from "./http";
import type { NewAttachment, PermissionAnswer, Policy, SessionChange, SessionDraft } from "./types";

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

export const unreachable = "The server cannot be reached.";

export const answer_timeout_ms = 30_000;
/** An agent that is slow to start, or has much to repeat. */
const start_timeout_ms = 120_000;
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

export const currentKey = (): string | null => pageKey;

/** For what sends no headers: the key goes along in the address. */
export function withKey(path: string, query: Record<string, string | number | null> = {}): string {
  const known = Object.entries({ ...query, key: pageKey }).filter(([, value]) => value !== null);
  const search = new URLSearchParams(known.map(([name, value]) => [name, String(value)]));
  return search.size === 0 ? path : `${path}?${search}`;
}

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

export const until =
  (signal: AbortSignal): Fetch =>
  (request) =>
    fetch(request, { signal });
const within =
  (timeout_ms: number): Fetch =>
  (request) =>
    until(AbortSignal.timeout(timeout_ms))(request);

export const client = createClient({
  // A worker has no document to take a relative address from, and neither has a test.
  baseUrl: location.origin,
  fetch: within(answer_timeout_ms),
  headers: () => (pageKey === null ? {} : { "x-voxpilot-key": pageKey }),
});

// biome-ignore lint/suspicious/noConfusingVoidType: a call without an answer gives no value.
type Given<T> = [T] extends [undefined] ? void : T;

/** What a call gave, or an error that says who failed. */
export async function answer<T>(
  calling: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<Given<T>> {
  const result = await calling.catch((error) => {
    if (error instanceof SyntaxError) throw error;
    noteAnswer(false);
    throw new NetworkError(unreachable);
  });
  const failure = result.response.ok ? null : readFailure(result.response.status, result.error);
  noteAnswer(!(failure instanceof NetworkError));
  if (failure) throw failure;
  return result.data as Given<T>;
}

function readFailure(status: number, body: unknown): Error {
  // A proxy in front of a server that restarts answers for it; that is the same as no answer.
  if ([502, 503, 504].includes(status) && !isApiError(body)) return new NetworkError(unreachable);
  const error = isApiError(body)
    ? new ApiError(status, String(body.error.code), body.error.message)
    : new ApiError(status, "unexpected", `The server answered with status ${status}.`);
  if (status === 401) reportSignedOut(error.code);
  return error;
}

function isApiError(body: unknown): body is { error: { code: unknown; message: string } } {
  return typeof (body as { error?: { message?: unknown } } | null)?.error?.message === "string";
}

/** The parameters of a call about one thing. */
export const inSession = (id: string) => ({ params: { path: { id } } });
export const upTo = (timeout_ms: number) => ({ fetch: within(timeout_ms) });

export const api = {
  sessions: (limit: number, before?: string) =>
    answer(client.GET("/api/sessions", { params: { query: { limit, ...(before === undefined ? {} : { before }) } } })),
  session: (id: string) => answer(client.GET("/api/sessions/{id}", inSession(id))),
  createSession: (draft: SessionDraft) =>
    answer(client.POST("/api/sessions", { body: draft, ...upTo(start_timeout_ms) })),
  changeSession: (id: string, change: SessionChange) =>
    answer(client.PATCH("/api/sessions/{id}", { ...inSession(id), body: change })),
  /** `agent_records`: its agents are started for it, where they can delete what they keep of it. */
  deleteSession: (id: string, agent_records: boolean) =>
    answer(
      client.DELETE("/api/sessions/{id}", {
        params: { path: { id }, query: agent_records ? { agent_records } : {} },
        ...upTo(start_timeout_ms),
      }),
    ),

  streamUrl: (id: string, after: number | null) => withKey(address("/api/sessions/{id}/stream", { id }), { after }),
  /** Those before one, or the newest. */
  messages: (id: string, before: string | null, limit: number) => {
    const query = before === null ? { limit } : { before, limit };
    return answer(client.GET("/api/sessions/{id}/messages", { params: { path: { id }, query } }));
  },
  message: (id: string, message_id: string) =>
    answer(client.GET("/api/sessions/{id}/messages/{message_id}", { params: { path: { id, message_id } } })),
  send: (id: string, content: string, client_id: string, attachments: NewAttachment[] = []) =>
    answer(
      client.POST("/api/sessions/{id}/messages", {
        ...inSession(id),
        body: attachments.length === 0 ? { content, client_id } : { content, client_id, attachments },
        ...upTo(attachments.length === 0 ? answer_timeout_ms : upload_timeout_ms),
      }),
    ),
  attachmentUrl: (id: string, attachment_id: string) =>
    withKey(address("/api/sessions/{id}/attachments/{attachment_id}", { id, attachment_id })),
  files: (id: string, query: string) =>
    answer(client.GET("/api/sessions/{id}/files", { params: { path: { id }, query: { query } } })),
  cancel: (id: string, tool_call_id?: string) =>
    answer(
      client.POST("/api/sessions/{id}/cancel", {
        ...inSession(id),
        body: tool_call_id === undefined ? {} : { tool_call_id },
      }),
    ),

  queue: (id: string) => answer(client.GET("/api/sessions/{id}/queue", inSession(id))),
  editQueued: (id: string, message_id: string, content: string) =>
    answer(
      client.PATCH("/api/sessions/{id}/queue/{message_id}", {
        params: { path: { id, message_id } },
        body: { content },
      }),
    ),
  withdrawQueued: (id: string, message_id: string) =>
    answer(client.DELETE("/api/sessions/{id}/queue/{message_id}", { params: { path: { id, message_id } } })),

  confirm: (id: string, tool_call_id: string, approved: boolean) =>
    answer(client.POST("/api/sessions/{id}/confirm", { ...inSession(id), body: { tool_call_id, approved } })),
  permit: (id: string, request_id: string, body: PermissionAnswer) =>
    answer(client.POST("/api/sessions/{id}/permissions/{request_id}", { params: { path: { id, request_id } }, body })),

  agentSessions: (id: string) => answer(client.GET("/api/sessions/{id}/agents", inSession(id))),
  setAgent: (id: string, name: string, options: Record<string, string | boolean>) =>
    answer(client.PATCH("/api/sessions/{id}/agents/{name}", { params: { path: { id, name } }, body: { options } })),

  artifact: (id: string) => answer(client.GET("/api/artifacts/{id}", inSession(id))),
  agents: () => answer(client.GET("/api/agents")),

  checkKey: (key: string) => answer(client.POST("/api/devices/key", { body: { key } })),
  devices: () => answer(client.GET("/api/devices")),
  logout: () => answer(client.POST("/api/logout")),

  server: () => answer(client.GET("/api/server")),
  choosePolicy: (permission_policy: Policy) => answer(client.PATCH("/api/server", { body: { permission_policy } })),
  trust: () => answer(client.GET("/api/trust")),
  consent: (hash: string) => answer(client.POST("/api/trust", { body: { hash } })),
  revokeTrust: () => answer(client.DELETE("/api/trust")),
};

/** What to tell a person about a call that failed. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : "Something went wrong.";
}
