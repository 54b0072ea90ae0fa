// All places of a conversation where words are, in order.

import { createEffect, createSignal, on, onCleanup, untrack } from "solid-js";
import { unwrap } from "solid-js/store";
import type { OpenSession } from "../state/openSession";
import { patternOf } from "./marks";
import { type Find, findsOf } from "./passages";

/** Nobody steps through more. */
export const most_finds = 5_000;
/** How many older messages are fetched before somebody asks for more. */
const fetched_count = 2_000;
const page_limit = 200;
const pause_ms = 150;
/** What looking may take of a frame. */
const budget_ms = 10;

export function createFinds(open: OpenSession, query: () => string, insert: (apply: () => void) => void) {
  const { state } = open;
  const [finds, setFinds] = createSignal<Find[]>([]);
  /** It is still looking through what is loaded, or fetching what is older. */
  const [isLooking, setLooking] = createSignal(false);
  const [allowed, setAllowed] = createSignal(fetched_count);
  let fetched = 0;
  let run = 0;

  async function look(): Promise<void> {
    run += 1;
    const mine = run;
    const pattern = patternOf(query());
    if (!pattern) {
      setFinds([]);
      setLooking(false);
      return;
    }
    setLooking(true);
    const found: Find[] = [];
    let began = performance.now();
    const { entries } = unwrap(state);
    for (let index = 0; index < entries.length && found.length < most_finds; index++) {
      found.push(...findsOf(unwrap(state), index, pattern).slice(0, most_finds - found.length));
      if (performance.now() - began < budget_ms) continue;
      await new Promise((resolve) => setTimeout(resolve));
      if (mine !== run) return;
      began = performance.now();
    }
    setFinds(found);
    await fetchOlder(mine);
    if (mine === run) setLooking(false);
  }
  /** What is fetched makes it look once more. */
  async function fetchOlder(mine: number): Promise<void> {
    while (mine === run && state.moreBefore && fetched < untrack(allowed)) {
      const before = state.oldestMessage;
      await open.loadOlder(insert, page_limit).catch(() => {});
      if (state.oldestMessage !== before) fetched += page_limit;
      else if (!open.loadingOlder()) return;
      else await new Promise(requestAnimationFrame);
    }
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const lookSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(), pause_ms);
  };
  createEffect(on(() => [query(), state.entries.length, state.runningTurn, state.epoch, allowed()], lookSoon));
  onCleanup(() => {
    clearTimeout(timer);
    run += 1;
  });
  return {
    finds,
    isLooking,
    /** What is older than what was fetched was not looked at. */
    isPartial: () => state.moreBefore && !isLooking(),
    lookFurther: () => setAllowed(fetched + fetched_count),
  };
}
