// How much a session has changed, in figures, for the page's head. Asked for when something may have changed, never in between.

import { createEffect, createSignal, on, onCleanup } from "solid-js";
import { readSummary } from "../api/summary";
import type { Part } from "../state/flow";
import type { SessionState } from "../state/model";

export interface Summary {
  files: number;
  additions: number;
  deletions: number;
  branch: string | null;
  project: string;
}

/** An agent that writes file after file is not asked after each. */
const rest_ms = 1_500;

const [changed, setChanged] = createSignal(0);

const [latest, setLatest] = createSignal("");
/** Becomes another value when the figures of the session on the page did. */
export const changesNews = latest;

/** Files were changed from this page: taken back, committed. */
export function noteChanged(): void {
  setChanged((count) => count + 1);
}

/** Becomes another value whenever the files may have become others: a turn began or ended, an agent changed something. */
export function changeNews(state: SessionState): string {
  const edits = Object.values(state.calls).reduce((sum, call) => sum + editsIn(call.copilotStream?.parts ?? []), 0);
  return `${state.runningTurn ?? state.lastTurn}/${state.runningTurn !== null}/${edits}/${changed()}`;
}

const changing = new Set(["edit", "delete", "move"]);

function editsIn(parts: Part[]): number {
  let count = 0;
  for (const part of parts) {
    if (part.type === "group") count += editsIn(part.parts);
    if (part.type !== "update" || part.update.type !== "tool_call") continue;
    const { kind, status } = part.update;
    if (status === "completed" && changing.has(kind ?? "")) count += 1;
  }
  return count;
}

/** Null until it is known, and where it cannot be known. The last answer stays while the next is on its way. */
export function createSummary(id: () => string | null, news: () => unknown): () => Summary | null {
  const [summary, setSummary] = createSignal<Summary | null>(null);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  let isStale = false;
  const ask = async () => {
    const session = id();
    if (session === null) return;
    if (isAsking) {
      isStale = true;
      return;
    }
    isAsking = true;
    isStale = false;
    const answer = await readSummary(session, "session").catch(() => null);
    isAsking = false;
    if (session !== id()) return void ask();
    if (answer) {
      const {
        total_files: files,
        total_additions: additions,
        total_deletions: deletions,
        branch,
        project,
        version,
      } = answer;
      setLatest(`${session}/${version}`);
      setSummary({ files, additions, deletions, branch: branch ?? null, project });
    }
    if (isStale) later();
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), rest_ms);
  };
  createEffect(
    on(id, () => {
      setSummary(null);
      void ask();
    }),
  );
  createEffect(on(news, later, { defer: true }));
  onCleanup(() => clearTimeout(timer));
  return summary;
}
