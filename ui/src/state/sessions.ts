// The list of sessions, kept fresh while somebody looks at it.

import { createSignal } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { api, NetworkError, sentence } from "../api/client";
import type { Session, SessionChange, SessionDraft } from "../api/types";
import { permission } from "./notify";

const poll_ms = 5_000;
const page_size = 50;
/** The most that the server gives at once. */
const largest_page = 200;

export interface Sessions {
  list: Session[];
  loaded: () => boolean;
  /** There are more than are listed. */
  hasMore: () => boolean;
  showMore(): void;
  error: () => string | null;
  refresh(): Promise<void>;
  /** `prepare` runs before anybody can see the new session. */
  create(draft: SessionDraft, prepare?: (session: Session) => void): Promise<Session>;
  change(id: string, change: SessionChange): Promise<void>;
  remove(id: string): Promise<void>;
  close(): void;
}

export function createSessions(): Sessions {
  const [list, setList] = createStore<Session[]>([]);
  const [loaded, setLoaded] = createSignal(false);
  const [error, setError] = createSignal<string | null>(null);
  const [hasMore, setHasMore] = createSignal(false);
  let latest = 0;
  let wanted = page_size;

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
    try {
      const { sessions, more } = await fetchWanted();
      // An answer that an own action has overtaken would bring back what is gone.
      if (mine !== latest) return;
      setList(reconcile(sessions, { key: "id" }));
      setHasMore(more);
      setLoaded(true);
      setError(null);
    } catch (reason) {
      // A list that is there stays good for a while, and whoever has a session open is told that the connection is gone.
      const stale = reason instanceof NetworkError && loaded();
      if (mine === latest && !stale) setError(sentence(reason));
    }
  }

  const poll = () => {
    // Nobody sees the list of a hidden page, but they may want to hear of it.
    if (document.visibilityState === "visible" || permission() === "granted") void refresh();
  };
  const timer = setInterval(poll, poll_ms);
  document.addEventListener("visibilitychange", poll);
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
      await api.changeSession(id, change);
      setList((session) => session.id === id, change);
      void refresh();
    },
    async remove(id) {
      await api.deleteSession(id);
      setList((all) => all.filter((session) => session.id !== id));
      void refresh();
    },
    close() {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", poll);
    },
  };
}
