// Calls that only those pages and dialogs make which are loaded when they are opened.

import { address } from "./address";
import {
  ApiError,
  answer,
  answer_timeout_ms,
  client,
  inSession,
  NetworkError,
  unreachable,
  until,
  upTo,
  withKey,
} from "./client";
import type { DeviceKind, MainAiWanted, PushWanted, SettingValue, TraceFilter } from "./types";

/** Every agent there is, some at a time. */
const ask_timeout_ms = 600_000;

/** A call whose answer is a text that is read while it grows. Ends with the text, or when `signal` says so. */
async function readLogin(id: string, done: boolean, onText: (text: string) => void, signal: AbortSignal) {
  try {
    const text = await answer(
      client.POST("/api/agents/{id}/login", {
        params: { path: { id }, query: done ? { done } : {} },
        parseAs: "stream",
        fetch: until(signal),
      }),
    );
    const decoder = new TextDecoder();
    const reader = text?.getReader();
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
      onText(decoder.decode(piece.value, { stream: true }));
    }
  } catch (error) {
    throw error instanceof ApiError ? error : new NetworkError(unreachable);
  }
}

export const pagesApi = {
  rules: (id: string) => answer(client.GET("/api/sessions/{id}/permission-rules", inSession(id))),
  revokeRule: (id: string, rule_id: string) =>
    answer(client.DELETE("/api/sessions/{id}/permission-rules/{rule_id}", { params: { path: { id, rule_id } } })),
  /** Takes back a denial that the agent was not told yet. */
  undoDenial: (id: string, request_id: string) =>
    answer(client.DELETE("/api/sessions/{id}/permissions/{request_id}/held", { params: { path: { id, request_id } } })),
  trace: (id: string, filter: TraceFilter, before?: string) => {
    const query = Object.fromEntries(Object.entries({ ...filter, before }).filter(([, value]) => value));
    return answer(client.GET("/api/sessions/{id}/trace", { params: { path: { id }, query } }));
  },
  traceEntry: (id: string, runner: string, seq: number) =>
    answer(client.GET("/api/sessions/{id}/trace/{runner}/{seq}", { params: { path: { id, runner, seq } } })),
  captureUrl: (id: string) => withKey(address("/api/sessions/{id}/trace/capture", { id })),
  /** Whether its package may be downloaded when it is started. */
  allowNpx: (id: string, allowed: boolean) =>
    answer(client.POST("/api/agents/{id}/npx", { ...inSession(id), body: { allowed } })),
  testAgent: (id: string) => answer(client.POST("/api/agents/{id}/test", inSession(id))),
  installAgent: (id: string) => answer(client.POST("/api/agents/{id}/install", inSession(id))),
  /** Stops a test or an installation, or forgets that it failed. */
  stopChore: (id: string) => answer(client.DELETE("/api/agents/{id}/chore", inSession(id))),
  /** It is started for that. */
  signOut: (id: string) =>
    answer(client.POST("/api/agents/{id}/logout", { ...inSession(id), ...upTo(ask_timeout_ms) })),
  conversations: () => answer(client.GET("/api/conversations")),
  /** With what the agents keep by themselves; they have to be started for that. */
  askAgents: () => answer(client.POST("/api/conversations", { body: {}, ...upTo(ask_timeout_ms) })),
  login: (agent: string, onText: (text: string) => void, signal: AbortSignal) =>
    readLogin(agent, false, onText, signal),
  /** The login was done elsewhere. */
  loggedIn: (agent: string) => readLogin(agent, true, () => {}, AbortSignal.timeout(answer_timeout_ms)),
  renameDevice: (device_id: string, name: string) =>
    answer(client.PATCH("/api/devices/{device_id}", { params: { path: { device_id } }, body: { name } })),
  revokeDevice: (device_id: string) =>
    answer(client.DELETE("/api/devices/{device_id}", { params: { path: { device_id } } })),
  /** It leads to that address of the server, or to the one of this page. */
  makeLink: (kind: DeviceKind, address?: string) =>
    answer(client.POST("/api/devices/link", { body: { kind, ...(address === undefined ? {} : { address }) } })),
  reach: () => answer(client.GET("/api/reach")),
  /** Whether the server answers there, which it finds out within some seconds. */
  checkReach: (url: string) => answer(client.GET("/api/reach/check", { params: { query: { url } } })),
  openNetwork: (address: string) => answer(client.PUT("/api/reach/network", { body: { address } })),
  closeNetwork: () => answer(client.DELETE("/api/reach/network")),
  audit: (limit: number, before?: number) =>
    answer(client.GET("/api/audit", { params: { query: { limit, ...(before === undefined ? {} : { before }) } } })),
  settings: () => answer(client.GET("/api/settings")),
  changeSettings: (body: Record<string, SettingValue>) => answer(client.PATCH("/api/settings", { body })),
  mainAi: () => answer(client.GET("/api/main-ai")),
  mainAiModels: (body: MainAiWanted, signal: AbortSignal) =>
    answer(client.POST("/api/main-ai/models", { body, fetch: until(signal) })),
  tryMainAi: (body: MainAiWanted, signal: AbortSignal) =>
    answer(client.POST("/api/main-ai/test", { body, fetch: until(signal) })),
  setMainAi: (body: MainAiWanted, signal: AbortSignal) =>
    answer(client.PUT("/api/main-ai", { body, fetch: until(signal) })),
  /** Its key, too. */
  forgetMainAi: () => answer(client.DELETE("/api/main-ai")),
  push: () => answer(client.GET("/api/push")),
  subscribePush: (body: PushWanted) => answer(client.PUT("/api/push", { body })),
  unsubscribePush: () => answer(client.DELETE("/api/push")),
  testPush: () => answer(client.POST("/api/push/test")),
};
