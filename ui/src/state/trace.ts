// The raw traffic of a session as the inspector shows it: newest first, page by page, filtered by the server.

import { createSignal, onCleanup } from "solid-js";
import { sentence } from "../api/client";
import { pagesApi } from "../api/pages";
import type { TraceEntry, TraceFilter, TraceRunner } from "../api/types";

const follow_ms = 2_000;
/** A person who types a filter is not asked for after every letter. */
const settle_ms = 250;

/** What tells one entry from all others. */
export function entryKey(entry: TraceEntry): string {
  return `${entry.runner}_${entry.seq}`;
}

/** What is new in front of what is there; null where something in between is missing. */
export function joinNewest(fresh: TraceEntry[], known: TraceEntry[]): TraceEntry[] | null {
  const newest = known[0];
  if (!newest) return fresh;
  const at = fresh.findIndex((entry) => entryKey(entry) === entryKey(newest));
  return at < 0 ? null : [...fresh.slice(0, at), ...known];
}

export function createTrace(sessionId: string, wanted: TraceFilter = {}) {
  const [filter, setFilter] = createSignal<TraceFilter>(wanted);
  const [entries, setEntries] = createSignal<TraceEntry[]>([]);
  const [runners, setRunners] = createSignal<TraceRunner[]>([]);
  const [next, setNext] = createSignal<string | null>(null);
  const [loading, setLoading] = createSignal(true);
  const [loaded, setLoaded] = createSignal(false);
  const [error, setError] = createSignal<string | null>(null);
  /** Counts the questions, so that a late answer to an earlier one changes nothing. */
  let asked = 0;
  let waiting: ReturnType<typeof setTimeout> | undefined;

  const ask = async (before: string | undefined, take: (page: Awaited<ReturnType<typeof pagesApi.trace>>) => void) => {
    asked += 1;
    const mine = asked;
    setLoading(true);
    try {
      const page = await pagesApi.trace(sessionId, filter(), before);
      if (mine !== asked) return;
      take(page);
      setRunners(page.runners);
      setError(null);
      setLoaded(true);
    } catch (reason) {
      if (mine === asked) setError(sentence(reason));
    } finally {
      if (mine === asked) setLoading(false);
    }
  };
  const load = () =>
    ask(undefined, (page) => {
      setEntries(page.entries);
      setNext(page.next ?? null);
    });
  /** Puts what has come since in front; what is open on the screen stays open. */
  const refresh = () =>
    ask(undefined, (page) => {
      const joined = joinNewest(page.entries, entries());
      if (joined === null || entries().length === 0) setNext(page.next ?? null);
      setEntries(joined ?? page.entries);
    });
  const older = () =>
    ask(next() ?? undefined, (page) => {
      setEntries([...entries(), ...page.entries]);
      setNext(page.next ?? null);
    });
  const narrow = (change: TraceFilter) => {
    setFilter({ ...filter(), ...change });
    clearTimeout(waiting);
    waiting = setTimeout(() => void load(), settle_ms);
  };
  const [following, setFollowing] = createSignal(false);
  const beat = setInterval(() => {
    if (following() && !loading() && !document.hidden) void refresh();
  }, follow_ms);
  onCleanup(() => {
    asked += 1;
    clearTimeout(waiting);
    clearInterval(beat);
  });
  void load();
  return { filter, entries, runners, next, loading, loaded, error, following, setFollowing, refresh, older, narrow };
}

export type Trace = ReturnType<typeof createTrace>;
