// The key of this page. A browser sends the cookie to every port of a host, also to a server that an agent started; what a page
// stores stays with its own origin. So the server lets a device in only with both, from the moment that a page has told it the key.

import { ApiError, api, setPageKey } from "../api/client";
import { forgetInWorker, keepForWorker } from "../worker/key";
import { readStored, store } from "./storage";

const name = "key";
const key_bytes = 32;
/** Another page of this browser may be binding its own at the same moment. */
const tries = 5;
const first_wait_ms = 200;
const longest_wait_ms = 5_000;

/** `refused`: the device has the key of another page, or is no longer let in. */
export type Bound = "bound" | "refused";

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(key_bytes));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** The stored key, made where there is none: all pages of one origin share it. */
function ownKey(): string {
  const known = readStored(name);
  if (known !== null) return known;
  store(name, newKey());
  return readStored(name) ?? "";
}

const pause = (time_ms: number) => new Promise((resolve) => setTimeout(resolve, time_ms));

/** Ties this page to its device. Comes back once the server has answered, however long that takes. */
export async function bindKey(): Promise<Bound> {
  let conflicts = 0;
  for (let wait_ms = first_wait_ms; ; wait_ms = Math.min(wait_ms * 2, longest_wait_ms)) {
    const key = ownKey();
    setPageKey(key);
    try {
      await api.bindKey(key);
      // Of two pages that each made one, the key that the server took is the one that stays.
      store(name, key);
      // A browser that keeps nothing for workers (in a private window, say) has one that cannot answer.
      void keepForWorker(key).catch(() => {});
      return "bound";
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return "refused";
      // What was stored is no key: another one is made.
      if (error instanceof ApiError && error.status === 422) store(name, "");
      if (error instanceof ApiError && error.status === 409) {
        conflicts += 1;
        if (conflicts >= tries) return "refused";
      }
    }
    await pause(wait_ms);
  }
}

/** After signing out: the next device of this browser gets a key of its own. */
export function forgetKey(): void {
  store(name, "");
  setPageKey(null);
  void forgetInWorker().catch(() => {});
}
