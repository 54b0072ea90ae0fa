// Messages on their way to the server. Each keeps its client id over every attempt, over a reload too,
// so the server takes it once; they leave one after the other, in the order they were written.

import { createStore } from "solid-js/store";
import { api, NetworkError, sentence } from "../api/client";
import type { Accepted } from "../api/types";
import { readStored, store } from "./storage";

export const first_retry_ms = 500;
export const longest_retry_ms = 5_000;
/** How long an accepted message is shown here while its event is awaited. */
const linger_ms = 10_000;

export interface OutboxItem {
  clientId: string;
  content: string;
  state: "sending" | "retrying" | "accepted" | "refused";
  error: string | null;
}

export interface Outbox {
  items: OutboxItem[];
  send(content: string): void;
  retry(clientId: string): void;
  discard(clientId: string): void;
  close(): void;
}

type Post = (sessionId: string, content: string, clientId: string) => Promise<Accepted>;

export function createOutbox(sessionId: string, post: Post = api.send): Outbox {
  const key = `outbox.${sessionId}`;
  const [items, setItems] = createStore<OutboxItem[]>(readItems(key));
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
  const save = () => {
    const unsent = items.filter((item) => item.state !== "accepted");
    store(
      key,
      unsent.length === 0 ? "" : JSON.stringify(unsent.map(({ clientId, content }) => ({ clientId, content }))),
    );
  };
  const change = (clientId: string, fields: Partial<OutboxItem>) => {
    setItems((item) => item.clientId === clientId, fields);
    save();
  };
  const discard = (clientId: string) => {
    setItems((all) => all.filter((item) => item.clientId !== clientId));
    save();
  };

  async function pump(delay_ms = first_retry_ms): Promise<void> {
    if (busy || closed) return;
    const next = items.find((item) => item.state === "sending" || item.state === "retrying");
    if (!next) return;
    const { clientId, content } = next;
    busy = true;
    let wait_ms = 0;
    try {
      await post(sessionId, content, clientId);
      change(clientId, { state: "accepted", error: null });
      later(() => discard(clientId), linger_ms);
    } catch (error) {
      if (error instanceof NetworkError) {
        change(clientId, { state: "retrying", error: sentence(error) });
        wait_ms = delay_ms;
      } else {
        change(clientId, { state: "refused", error: sentence(error) });
      }
    }
    busy = false;
    if (wait_ms === 0) void pump();
    else later(() => void pump(Math.min(delay_ms * 2, longest_retry_ms)), wait_ms);
  }

  void pump();
  return {
    items,
    send(content) {
      const item: OutboxItem = { clientId: newClientId(), content, state: "sending", error: null };
      setItems(items.length, item);
      save();
      void pump();
    },
    retry(clientId) {
      change(clientId, { state: "sending", error: null });
      void pump();
    },
    discard,
    close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Leaves a message for a session that is opened next. */
export function queueFirst(sessionId: string, content: string): void {
  store(`outbox.${sessionId}`, JSON.stringify([{ clientId: newClientId(), content }]));
}

/** `randomUUID` exists only on pages that came over TLS or from this machine; a phone at home has neither. */
function newClientId(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

function readItems(key: string): OutboxItem[] {
  try {
    const saved = JSON.parse(readStored(key) ?? "[]") as { clientId: string; content: string }[];
    return saved.map(({ clientId, content }) => ({ clientId, content, state: "sending", error: null }));
  } catch {
    return [];
  }
}
