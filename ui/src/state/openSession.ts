// One session on the page: its state, its stream, its outbox and what is fetched for it.

import { batch, createSignal, untrack } from "solid-js";
import { createStore, produce, reconcile, unwrap } from "solid-js/store";
import { ApiError, api } from "../api/client";
import type { PermissionAnswer, StreamEvent } from "../api/types";
import { Connection, type ConnectionOptions } from "../stream/connection";
import { tabLink } from "../stream/link";
import { type Break, createBreaks } from "./breaks";
import { applyConfirmed, applyDropOldest, applyLoginTried, applyOlder, applyPermitted } from "./local";
import { emptyState, type SessionState, waitingCount } from "./model";
import { createOutbox, type Outbox } from "./outbox";
import { apply } from "./reducer";

const page_limit = 50;

export interface OpenSession {
  id: string;
  state: SessionState;
  outbox: Outbox;
  /** Set when the connection has been gone for long enough to say so. */
  broken: () => Break | null;
  /** The session does not exist any more. */
  gone: () => boolean;
  loadingOlder: () => boolean;
  /** Fetches older messages; `insert` puts them in when it calls what it is given. */
  loadOlder(insert: (apply: () => void) => void, limit?: number): Promise<void>;
  /** Lets go of what is far above the end, where that is much. */
  dropOldest(): void;
  confirm(callId: string, approved: boolean): Promise<void>;
  /** A denial is held by the server, which says itself how it goes on. */
  permit(requestId: string, answer: PermissionAnswer, isHeld: boolean): Promise<void>;
  cancel(callId?: string): Promise<void>;
  /** Somebody has logged the agent in: the server tries what waits. */
  loginTried(): void;
  close(): void;
}

export function openSession(id: string, createSource?: ConnectionOptions["createSource"]): OpenSession {
  const [state, setState] = createStore<SessionState>(emptyState(0));
  const [gone, setGone] = createSignal(false);
  const [loadingOlder, setLoadingOlder] = createSignal(false);
  const outbox = createOutbox(id);
  const change = (run: (draft: SessionState) => void) => setState(produce(run));

  /** A snapshot under way; it replaces the state at once when it is whole. */
  let incoming: SessionState | null = null;

  function receive(event: StreamEvent): "ok" | "gap" {
    let outcome: "ok" | "gap" = "ok";
    if (incoming) {
      outcome = apply(incoming, event);
      if (event.event === "ready") takeSnapshot(incoming);
    } else {
      change((draft) => {
        outcome = apply(draft, event, new Date().toISOString());
      });
    }
    if (!incoming) afterEvent(event);
    return outcome;
  }

  function takeSnapshot(fresh: SessionState): void {
    incoming = null;
    keepLogin(unwrap(state), fresh);
    const { permissions, confirms } = unwrap(state);
    batch(() => {
      setState(reconcile({ ...fresh, permissions: [], confirms: [] }, { key: "id", merge: false }));
      // A question never turns into another one under somebody's finger: it stays, or it is a new one.
      setState({
        permissions: keepKnown(permissions, fresh.permissions, (request) => request.request_id),
        confirms: keepKnown(confirms, fresh.confirms, (call) => call.id),
      });
    });
  }

  function afterEvent(event: StreamEvent): void {
    const clientIds: (string | null | undefined)[] = [];
    if (event.event === "message") clientIds.push(event.data.client_id);
    if (event.event === "queue") clientIds.push(...event.data.items.map((item) => item.client_id));
    if (event.event === "ready") {
      for (const entry of unwrap(state).entries) {
        if (entry.kind === "message" && entry.clientId !== null) clientIds.push(entry.clientId);
      }
      clientIds.push(...unwrap(state).queue.map((item) => item.client_id));
    }
    for (const clientId of clientIds) {
      if (clientId != null && outbox.items.some((item) => item.clientId === clientId)) outbox.discard(clientId);
    }
  }

  const breaks = createBreaks(() => outbox.hurry());
  const connection = new Connection({
    url: (after) => api.streamUrl(id, after),
    onSnapshot() {
      incoming = emptyState(unwrap(state).epoch + 1);
    },
    onEvent: receive,
    onConnected(now) {
      if (now) breaks.mended();
      else breaks.failed();
    },
    onRefused() {
      // The browser does not say what a refused stream was refused with; an ordinary call does.
      api.session(id).catch((error) => {
        if (error instanceof ApiError && error.status === 404) {
          setGone(true);
          connection.close();
        }
      });
    },
    createSource: createSource ?? ((url, after) => tabLink().follow(id, after, url)),
  });
  // A page that rests has to know what it is asked.
  const stopHearing = tabLink().hear({
    onConnected() {},
    onGone() {},
    onRow(row) {
      if (row.id === id && row.waiting !== waitingCount(unwrap(state))) connection.look();
    },
  });

  return {
    id,
    state,
    outbox,
    broken: breaks.current,
    gone,
    loadingOlder,
    async loadOlder(insert, limit = page_limit) {
      const before = untrack(() => state.oldestMessage);
      if (before === null || untrack(() => loadingOlder() || !state.moreBefore)) return;
      setLoadingOlder(true);
      try {
        const page = await api.messages(id, before, limit);
        // A snapshot may have taken over meanwhile; then this page no longer fits.
        if (state.oldestMessage !== before) return;
        insert(() => change((draft) => applyOlder(draft, page.messages, page.more, page.artifacts)));
      } finally {
        setLoadingOlder(false);
      }
    },
    dropOldest() {
      if (!untrack(loadingOlder)) change(applyDropOldest);
    },
    async confirm(callId, approved) {
      await api.confirm(id, callId, approved);
      change((draft) => applyConfirmed(draft, callId));
    },
    async permit(requestId, answer, isHeld) {
      await api.permit(id, requestId, answer);
      if (!isHeld) change((draft) => applyPermitted(draft, requestId));
    },
    cancel: (callId) => api.cancel(id, callId),
    loginTried: () => change(applyLoginTried),
    close() {
      connection.close();
      stopHearing();
      outbox.close();
      breaks.close();
    },
  };
}

/** A snapshot does not say that a login is being tried. */
function keepLogin(old: SessionState, fresh: SessionState): void {
  if (fresh.login && old.login?.trying && old.login.turnId === fresh.login.turnId) fresh.login.trying = true;
}

function keepKnown<T>(old: T[], fresh: T[], id: (item: T) => string): T[] {
  return fresh.map((item) => old.find((known) => id(known) === id(item)) ?? item);
}
