// The list of sessions, kept fresh while somebody looks at it.

import { createSignal } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { api, NetworkError, sentence } from "../api/client";
import type { Row, Session, SessionChange, SessionDraft } from "../api/types";
import { tabLink } from "../stream/link";
import { permission } from "./pushState";

const poll_ms = 5_000;
/** While the stream tells of every change. */
const slow_poll_ms = 60_000;
const page_size = 50;
/** The most that the server gives at once. */
const largest_page = 200;

export interface Sessions {
  list: Row[];
  loaded: () => boolean;
  /** There are more than are listed. */
  hasMore: () => boolean;
  showMore(): void;
  error: () => string | null;
  refresh(): Promise<void>;
  /** `prepare` runs before anybody can see the new session. */
  create(draft: SessionDraft, prepare?: (session: Session) => void): Promise<Session>;
  change(id: string, change: SessionChange): Promise<void>;
  /** It was deleted. */
  forget(id: string): void;
  close(): void;
}

export function createSessions(): Sessions {
  const [list, setList] = createStore<Row[]>([]);
  const [loaded, setLoaded] = createSignal(false);
  const [error, setError] = createSignal<string | null>(null);
  const [hasMore, setHasMore] = createSignal(false);
  let latest = 0;
  let wanted = page_size;
  /** What the stream has told since the list was last asked for; null for what is gone. The answer may have been read before. */
  let heard = new Map<string, Session | null>();

  async function fetchWanted(): Promise<{ sessions: Session[]; more: boolean }> {
    const sessions: Session[] = [];
    let next: string | undefined;
    do {
      const page = await api.sessions(Math.min(wanted - sessions.length, largest_page), next);
      sessions.push(...page.sessions);
      next = page.next ?? undefined;
    } while (next !== undefined && sessions.length < wanted);
    return { sessions, more: next !== undefined };
  }

  async function refresh(): Promise<void> {
    latest += 1;
    const mine = latest;
    heard = new Map();
    try {
      const { sessions, more } = await fetchWanted();
      // An answer that an own action has overtaken would bring back what is gone.
      if (mine !== latest) return;
      setHasMore(more);
      let all: Row[] = sessions;
      for (const [id, row] of heard) all = placed(all, id, row);
      setList(reconcile(all, { key: "id" }));
      setLoaded(true);
      setError(null);
    } catch (reason) {
      // A list that is there stays good for a while, and whoever has a session open is told that the connection is gone.
      const stale = reason instanceof NetworkError && loaded();
      if (mine === latest && !stale) setError(sentence(reason));
    }
  }

  /** The rows with this one where it belongs, or without it. */
  function placed(all: Row[], id: string, row: Session | null): Row[] {
    const others = all.filter((other) => other.id !== id);
    const isOlder = hasMore() && row !== null && row.updated_at < (all.at(-1)?.updated_at ?? "");
    if (row === null || row.archived || (isOlder && others.length === all.length)) return others;
    const before = others.findIndex((other) => other.updated_at <= row.updated_at);
    return others.toSpliced(before < 0 ? others.length : before, 0, row);
  }

  /** The stream told of a row, or that it is gone. */
  function receive(id: string, row: Session | null): void {
    heard.set(id, row);
    if (loaded()) setList(reconcile(placed([...list], id, row), { key: "id" }));
  }

  let isLive = false;
  const link = tabLink();
  const stopHearing = link.hear({
    onConnected(connected) {
      isLive = connected;
      // What changed before is not told.
      if (connected) void refresh();
    },
    onRow: (row) => receive(row.id, row),
    onGone: (id) => receive(id, null),
  });
  let polledAt = Date.now();
  const poll = () => {
    // Nobody sees the list of a hidden page, but they may want to hear of it.
    const isWanted = document.visibilityState === "visible" || permission() === "granted";
    link.wantRows(isWanted);
    if (!isWanted || (isLive && Date.now() - polledAt < slow_poll_ms)) return;
    polledAt = Date.now();
    void refresh();
  };
  const timer = setInterval(poll, poll_ms);
  document.addEventListener("visibilitychange", poll);
  link.wantRows(true);
  void refresh();

  return {
    list,
    loaded,
    hasMore,
    showMore() {
      wanted += page_size;
      void refresh();
    },
    error,
    refresh,
    async create(draft, prepare) {
      const session = await api.createSession(draft);
      prepare?.(session);
      latest += 1;
      setList((all) => [session, ...all.filter((known) => known.id !== session.id)]);
      void refresh();
      return session;
    },
    async change(id, change) {
      const changed = await api.changeSession(id, change);
      setList((session) => session.id === id, changed);
      void refresh();
    },
    forget(id) {
      setList((all) => all.filter((session) => session.id !== id));
      void refresh();
    },
    close() {
      clearInterval(timer);
      stopHearing();
      link.wantRows(false);
      document.removeEventListener("visibilitychange", poll);
    },
  };
}
