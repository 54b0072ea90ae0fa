// Comments that are being written. They are in this browser alone, and outlive the page.

import { createStore, produce } from "solid-js/store";
import type { NewComment } from "../api/types";
import { readStored, store } from "../state/storage";

export interface Draft extends NewComment {
  quote: string;
  /** Of the comment that it is to replace. */
  editing?: string;
}

export interface Drafts {
  list: Draft[];
  /** Opens one, unless one is open there. */
  open(draft: Draft): void;
  write(draft: Draft, text: string): void;
  close(draft: Draft): void;
}

const isSamePlace = (a: Draft, b: Draft) =>
  a.path === b.path &&
  a.side === b.side &&
  a.from_line === b.from_line &&
  a.to_line === b.to_line &&
  a.editing === b.editing;

export function createDrafts(key: string): Drafts {
  const name = `review.${key}.drafts`;
  const [state, setState] = createStore<{ list: Draft[] }>({ list: read(name) });
  const keep = () => store(name, state.list.length === 0 ? "" : JSON.stringify(state.list));
  const find = (draft: Draft) => state.list.findIndex((other) => isSamePlace(other, draft));
  return {
    get list() {
      return state.list;
    },
    open(draft) {
      if (find(draft) < 0) setState("list", (all) => [...all, draft]);
      keep();
    },
    write(draft, text) {
      setState("list", find(draft), "text", text);
      keep();
    },
    close(draft) {
      const at = find(draft);
      if (at >= 0) setState(produce(({ list }) => void list.splice(at, 1)));
      keep();
    },
  };
}

function read(name: string): Draft[] {
  try {
    const found = JSON.parse(readStored(name) ?? "[]");
    return Array.isArray(found) ? found.filter((draft) => typeof draft?.text === "string" && draft.path) : [];
  } catch {
    return [];
  }
}
