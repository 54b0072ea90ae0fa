// The list of suggestions under the caret: what is offered, which of it is chosen, and what the keys do with it.

import { createSignal, onCleanup } from "solid-js";
import { insist } from "../kit/later";
import { type Completing, complete, completing } from "../state/completion";
import type { Suggestion } from "../state/suggest";

const pause_ms = 120;

interface CompletionOptions {
  /** Nothing is suggested where there is no session yet. */
  sessionId: () => string | undefined;
  /** Commands are for the agent itself, so a person must be talking straight to it. */
  withCommands: () => boolean;
  onChoose(text: string, caret: number): void;
}

export type Completion = ReturnType<typeof createCompletion>;

export function createCompletion(options: CompletionOptions) {
  const [items, setItems] = createSignal<Suggestion[]>([]);
  const [active, setActive] = createSignal(0);
  let at: Completing | null = null;
  let text = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;

  const close = () => {
    asked += 1;
    clearTimeout(timer);
    at = null;
    setItems([]);
  };
  onCleanup(close);

  function look(value: string, caret: number): void {
    const found = completing(value, caret);
    const id = options.sessionId();
    if (!found || id === undefined || (found.kind === "command" && !options.withCommands())) {
      close();
      return;
    }
    at = found;
    text = value;
    asked += 1;
    const mine = asked;
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const offered = await insist(() => import("../state/suggest"))
        .then(({ suggest }) => suggest(id, found))
        .catch(() => []);
      if (mine !== asked) return;
      setItems(offered);
      setActive(0);
    }, pause_ms);
  }

  function choose(index: number): void {
    const item = items()[index];
    const place = at;
    if (!item || !place) return;
    const done = complete(text, place, item.value);
    close();
    options.onChoose(done.text, done.caret);
  }

  /** True if the key was meant for the list. */
  function onKey(event: KeyboardEvent): boolean {
    const count = items().length;
    if (count === 0 || event.isComposing) return false;
    switch (event.key) {
      case "ArrowDown":
        setActive((active() + 1) % count);
        return true;
      case "ArrowUp":
        setActive((active() + count - 1) % count);
        return true;
      case "Enter":
      case "Tab":
        if (event.shiftKey) return false;
        choose(active());
        return true;
      case "Escape":
        close();
        return true;
      default:
        return false;
    }
  }

  return { items, active, look, choose, close, onKey };
}
