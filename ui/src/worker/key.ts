// The page's key where its worker can read it too. Like everything that a browser stores it belongs to this very origin, port and all,
// so what the key is for still holds: whoever else gets the cookie has not got it.

const database = "voxpilot-worker";
const table = "kept";
const name = "key";

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(database, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(table);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
    opening.onblocked = () => reject(new Error("the key cannot be stored while another page holds it"));
  });
}

async function within<T>(mode: IDBTransactionMode, ask: (kept: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = db.transaction(table, mode);
      const asked = ask(transaction.objectStore(table));
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onabort = () => reject(transaction.error);
      transaction.onerror = () => reject(transaction.error);
    });
  } finally {
    db.close();
  }
}

/** Without it the worker cannot answer, and says so; the page itself works all the same. */
export async function keepForWorker(key: string): Promise<void> {
  await within("readwrite", (kept) => kept.put(key, name));
}

export async function forgetInWorker(): Promise<void> {
  await within("readwrite", (kept) => kept.delete(name));
}

export async function readKey(): Promise<string | null> {
  const found: unknown = await within("readonly", (kept) => kept.get(name));
  return typeof found === "string" && found !== "" ? found : null;
}
