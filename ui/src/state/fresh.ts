// A session that was begun here and that the server does not know yet: its id is made with the first message, so that however often it is
// asked for it is made once, and it outlives a reload while the server is away.

import { createSignal } from "solid-js";
import { api } from "../api/client";
import type { NewAttachment, SessionDraft } from "../api/types";
import { newId, queueFirst } from "./outbox";
import { readStored, store, storedKeys } from "./storage";

const prefix = "fresh.";

interface Fresh {
  id: string;
  /** What to call it until it has a title. */
  title: string;
  draft: SessionDraft;
}

const [all, setAll] = createSignal<Fresh[]>(readAll());

/** Those that wait to be made. */
export { all as freshSessions };

export function isFresh(id: string): boolean {
  return all().some((fresh) => fresh.id === id);
}

/** Keeps the session and its first message; whoever opens it next sends them. Gives its id. */
export function beginSession(draft: SessionDraft, content: string, attachments: NewAttachment[]): string {
  const id = newId();
  const title = content.split("\n", 1)[0]?.slice(0, 80) ?? "";
  store(prefix + id, JSON.stringify({ id, title, draft } satisfies Fresh));
  queueFirst(id, content, attachments);
  setAll(readAll());
  return id;
}

/** Has the server make it, if that is still to be done. */
export async function makeSession(id: string): Promise<void> {
  const fresh = all().find((one) => one.id === id);
  if (!fresh) return;
  await api.createSession({ ...fresh.draft, id });
  dropSession(id);
}

/** It was made, or is not wanted any more. */
export function dropSession(id: string): void {
  store(prefix + id, "");
  setAll(readAll());
}

function readAll(): Fresh[] {
  return storedKeys(prefix).flatMap((key) => {
    try {
      const fresh = JSON.parse(readStored(key) ?? "null");
      return typeof fresh?.id === "string" ? [fresh as Fresh] : [];
    } catch {
      return [];
    }
  });
}
