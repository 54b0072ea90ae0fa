// Files that have not reached the server: beside drafts and messages on their way, but too large for where those are kept.
// A browser may refuse to store; then they last as long as the page.

import type { NewAttachment } from "../api/types";

const memory = new Map<string, NewAttachment[]>();
const database = "voxpilot";
const table = "files";

let opening: Promise<IDBDatabase | null> | undefined;

function open(): Promise<IDBDatabase | null> {
  opening ??= new Promise((resolve) => {
    if (typeof indexedDB === "undefined") return resolve(null);
    try {
      const request = indexedDB.open(database, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(table);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(null);
      request.onblocked = () => resolve(null);
    } catch {
      resolve(null);
    }
  });
  return opening;
}

function run<T>(
  db: IDBDatabase,
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T | null> {
  return new Promise((resolve) => {
    try {
      const transaction = db.transaction(table, mode);
      const request = ask(transaction.objectStore(table));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => resolve(null);
      transaction.onerror = () => resolve(null);
    } catch {
      resolve(null);
    }
  });
}

/** Keeps the files under that name in place of what was there; none removes it. */
export async function keepFiles(key: string, files: NewAttachment[]): Promise<void> {
  if (files.length === 0) memory.delete(key);
  else memory.set(key, files);
  const db = await open();
  if (!db) return;
  await run<unknown>(
    db,
    "readwrite",
    (store) => (files.length === 0 ? store.delete(key) : store.put(files, key)) as IDBRequest<unknown>,
  );
}

export async function readFiles(key: string): Promise<NewAttachment[]> {
  const known = memory.get(key);
  if (known) return known;
  const db = await open();
  const stored = db && (await run<NewAttachment[] | undefined>(db, "readonly", (store) => store.get(key)));
  return stored ?? [];
}

/** Keeps none of them any longer. */
export async function forgetFiles(): Promise<void> {
  memory.clear();
  const db = await open();
  if (db) await run<undefined>(db, "readwrite", (store) => store.clear());
}
