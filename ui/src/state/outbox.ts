// Messages on their way to the server. Each keeps its client id over every attempt, over a reload too,
// so the server takes it once; they leave one after the other, in the order they were written.
// Each is stored under a name of its own: two pages with the same session do not overwrite each other's.

import { createStore } from "solid-js/store";
import { ApiError, api, NetworkError, sentence } from "../api/client";
import type { Accepted, NewAttachment } from "../api/types";
import { nameOf } from "./attachments";
import { keepFiles, readFiles } from "./files";
import { readStored, store, storedKeys } from "./storage";

export const first_retry_ms = 500;
export const longest_retry_ms = 5_000;
/** How long an accepted message is shown here while its event is awaited. */
const linger_ms = 10_000;

export interface OutboxItem {
  clientId: string;
  content: string;
  /** The names of what goes along; the files themselves are kept elsewhere. */
  files: string[];
  /** `offline` and `postponed` are tried again: nobody answered, or the server cannot take it at the moment. */
  state: "sending" | "offline" | "postponed" | "accepted" | "refused";
  error: string | null;
}

export interface Outbox {
  items: OutboxItem[];
  send(content: string, attachments?: NewAttachment[]): void;
  retry(clientId: string): void;
  /** The connection is back: no need to wait for the next attempt. */
  hurry(): void;
  discard(clientId: string): void;
  /** What goes along with a message that has not left. */
  filesOf(clientId: string): Promise<NewAttachment[]>;
  close(): void;
}

type Post = (sessionId: string, content: string, clientId: string, files: NewAttachment[]) => Promise<Accepted>;

export function createOutbox(sessionId: string, post: Post = api.send): Outbox {
  const [items, setItems] = createStore<OutboxItem[]>(readItems(sessionId));
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let busy = false;
  let closed = false;

  const later = (run: () => void, delay_ms: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, delay_ms);
    timers.add(timer);
  };
  const change = (clientId: string, fields: Pick<OutboxItem, "state" | "error">) => {
    setItems((item) => item.clientId === clientId, fields);
    if (fields.state === "accepted") forget(sessionId, clientId);
  };
  const discard = (clientId: string) => {
    setItems((all) => all.filter((item) => item.clientId !== clientId));
    forget(sessionId, clientId);
  };

  async function pump(delay_ms = first_retry_ms): Promise<void> {
    if (busy || closed) return;
    const next = items.find((item) => item.state !== "accepted" && item.state !== "refused");
    if (!next) return;
    const { clientId, content, files } = next;
    busy = true;
    let wait_ms = 0;
    try {
      // Without its files it would be another message: what is gone is said, not left out.
      const attachments = files.length === 0 ? [] : await readFiles(itemKey(sessionId, clientId));
      if (attachments.length < files.length)
        throw new Error("The attachments are missing. Remove the message and attach them again.");
      await post(sessionId, content, clientId, attachments);
      change(clientId, { state: "accepted", error: null });
      later(() => discard(clientId), linger_ms);
    } catch (error) {
      const state = afterFailure(error);
      // That nobody answers is what `offline` says already.
      change(clientId, { state, error: state === "offline" ? null : sentence(error) });
      if (state !== "refused") {
        wait_ms = delay_ms;
        setItems((item) => item.state === "sending", { state, error: null });
      }
    }
    busy = false;
    if (wait_ms === 0) void pump();
    else later(() => void pump(Math.min(delay_ms * 2, longest_retry_ms)), wait_ms);
  }

  const hurry = () => void pump();
  window.addEventListener("online", hurry);
  void pump();
  return {
    items,
    send(content, attachments = []) {
      const item: OutboxItem = {
        clientId: newId(),
        content,
        files: attachments.map(nameOf),
        state: "sending",
        error: null,
      };
      setItems(items.length, item);
      keep(sessionId, item.clientId, content, attachments);
      void pump();
    },
    retry(clientId) {
      change(clientId, { state: "sending", error: null });
      void pump();
    },
    hurry,
    discard,
    filesOf: (clientId) => readFiles(itemKey(sessionId, clientId)),
    close() {
      closed = true;
      window.removeEventListener("online", hurry);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Leaves a message for a session that is opened next. */
export function queueFirst(sessionId: string, content: string, attachments: NewAttachment[] = []): void {
  keep(sessionId, newId(), content, attachments);
}

/** The disk is full, or the server is on its way out or in: nothing was stored, and later it may be. */
function afterFailure(error: unknown): "offline" | "postponed" | "refused" {
  if (error instanceof NetworkError) return "offline";
  return error instanceof ApiError && [429, 503, 507].includes(error.status) ? "postponed" : "refused";
}

/** `randomUUID` exists only on pages that came over TLS or from this machine; a phone at home has neither. */
export function newId(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

const itemKey = (sessionId: string, clientId: string) => `outbox.${sessionId}.${clientId}`;

interface Kept {
  clientId: string;
  content: string;
  files?: string[];
  at: number;
}

let lastAt = 0;

function keep(sessionId: string, clientId: string, content: string, attachments: NewAttachment[]): void {
  // Two messages of one millisecond keep their order.
  lastAt = Math.max(lastAt + 1, Date.now());
  const files = attachments.map(nameOf);
  store(itemKey(sessionId, clientId), JSON.stringify({ clientId, content, files, at: lastAt } satisfies Kept));
  if (files.length > 0) void keepFiles(itemKey(sessionId, clientId), attachments);
}

function forget(sessionId: string, clientId: string): void {
  store(itemKey(sessionId, clientId), "");
  void keepFiles(itemKey(sessionId, clientId), []);
}

/** The words of everything that has not left, in whichever session, oldest first. */
export function unsent(): string[] {
  const kept = storedKeys("outbox.").flatMap((key) => readKept(key) ?? []);
  return kept.sort((a, b) => a.at - b.at).map(({ content }) => content);
}

function readItems(sessionId: string): OutboxItem[] {
  return storedKeys(itemKey(sessionId, ""))
    .flatMap((key) => readKept(key) ?? [])
    .sort((a, b) => a.at - b.at)
    .map(({ clientId, content, files = [] }) => ({ clientId, content, files, state: "sending", error: null }));
}

function readKept(key: string): Kept | null {
  try {
    return JSON.parse(readStored(key) ?? "null");
  } catch {
    return null;
  }
}
