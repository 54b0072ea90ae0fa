// The remembered answers that hold in a session, fetched where something on the page names one.

import { createEffect, createRoot, createSignal, on } from "solid-js";
import { pagesApi } from "../api/pages";
import type { RuleList } from "../api/types";
import { useSessionHands } from "./nextSteps";

export type SavedRule = RuleList["rules"][number];

export interface SavedRules {
  /** Null until they are known. */
  list(): readonly SavedRule[] | null;
  find(id: string): SavedRule | undefined;
  remove(id: string): Promise<void>;
}

/** One session is open at a time. */
let last: { id: string; rules: SavedRules; dispose(): void } | null = null;

/** `count` says when there are others. */
export function savedRules(sessionId: string, count: () => number): SavedRules {
  if (last?.id === sessionId) return last.rules;
  last?.dispose();
  return createRoot((dispose) => {
    const [list, setList] = createSignal<readonly SavedRule[] | null>(null);
    createEffect(
      on(count, () => {
        pagesApi.rules(sessionId).then(
          ({ rules }) => setList(rules),
          // What is not known offers nothing to undo.
          () => {},
        );
      }),
    );
    const rules: SavedRules = {
      list,
      find: (id) => list()?.find((rule) => rule.id === id),
      async remove(id) {
        await pagesApi.revokeRule(sessionId, id);
        setList((known) => known?.filter((rule) => rule.id !== id) ?? null);
      },
    };
    last = { id: sessionId, rules, dispose };
    return rules;
  });
}

/** Those of the session that is open. */
export function useSavedRules(): SavedRules | null {
  const hands = useSessionHands();
  return hands && savedRules(hands.open.id, () => hands.open.state.session.rules ?? 0);
}
