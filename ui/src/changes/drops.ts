// Comments on their way out. Undo can take them back for a moment; whoever leaves sooner meant it.

import { createSignal, onCleanup } from "solid-js";
import { ApiError, sentence } from "../api/client";
import { tell, tellUndoable } from "../kit/toasts";

export interface Drops {
  /** Not shown any more. */
  has(id: string): boolean;
  drop(id: string, words: string): void;
}

const [hidden, setHidden] = createSignal<readonly string[]>([]);
/** The reviews whose comments of an earlier page have been looked after. */
const resumed = new Set<string>();

const hide = (id: string) => setHidden((all) => [...all, id]);
const show = (id: string) => setHidden((all) => all.filter((other) => other !== id));

export function createDrops(key: string, send: (id: string) => Promise<void>): Drops {
  // A request that a page sends as it goes may not arrive, so the tab remembers over a reload what was meant.
  const name = `voxpilot.review.${key}.drops`;
  const held = new Set<() => void>();
  const spare = (id: string) =>
    write(
      name,
      read(name).filter((other) => other !== id),
    );
  const finish = async (id: string) => {
    try {
      await send(id);
    } catch (reason) {
      // It was heard when the page before this one went.
      if (!(reason instanceof ApiError && reason.status === 404)) {
        show(id);
        tell(sentence(reason));
      }
    }
    spare(id);
  };
  const sendHeld = () => {
    for (const now of [...held]) now();
  };
  // A phone ends a page that is not seen without a word.
  const onHidden = () => document.visibilityState === "hidden" && sendHeld();
  addEventListener("pagehide", sendHeld);
  document.addEventListener("visibilitychange", onHidden);
  onCleanup(() => {
    removeEventListener("pagehide", sendHeld);
    document.removeEventListener("visibilitychange", onHidden);
    sendHeld();
  });
  if (!resumed.has(key)) {
    resumed.add(key);
    for (const id of read(name)) {
      hide(id);
      void finish(id);
    }
  }
  return {
    has: (id) => hidden().includes(id),
    drop(id, words) {
      hide(id);
      write(name, [...read(name), id]);
      const pending = tellUndoable(
        words,
        () => {
          held.delete(pending.now);
          spare(id);
          show(id);
        },
        () => {
          held.delete(pending.now);
          void finish(id);
        },
      );
      held.add(pending.now);
    },
  };
}

function read(name: string): string[] {
  try {
    return sessionStorage.getItem(name)?.split(",") ?? [];
  } catch {
    return [];
  }
}

function write(name: string, ids: string[]): void {
  try {
    if (ids.length > 0) sessionStorage.setItem(name, ids.join());
    else sessionStorage.removeItem(name);
  } catch {
    // Then it is as good as the request that is sent when the page goes.
  }
}
