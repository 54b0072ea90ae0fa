// The key of this page. A browser sends the cookie to every port of a host, also to a server that an agent started; what a page
// stores stays with its own origin. So the server accepts a device only with both. The sign-in page is given the key together with the
// cookie, and stores it here.

import { ApiError, api, setPageKey } from "../api/client";
import { forgetInWorker, keepForWorker } from "../worker/key";
import { readStored, store } from "./storage";

const name = "key";
const first_wait_ms = 200;
const longest_wait_ms = 5_000;

/** `refused`: the key is missing or another device's, or the device was signed out. */
export type Bound = "bound" | "refused";

const pause = (time_ms: number) => new Promise((resolve) => setTimeout(resolve, time_ms));

/** Checks that this page has the key of its device. Comes back once the server has answered, however long that takes. */
export async function checkKey(): Promise<Bound> {
  for (let wait_ms = first_wait_ms; ; wait_ms = Math.min(wait_ms * 2, longest_wait_ms)) {
    // Read each time: another page of this browser may be signing in.
    const key = readStored(name);
    if (key === null) return "refused";
    setPageKey(key);
    try {
      await api.checkKey(key);
      // A browser that keeps nothing for workers (in a private window, say) has one that cannot answer.
      void keepForWorker(key).catch(() => {});
      return "bound";
    } catch (error) {
      const refused = error instanceof ApiError && [401, 409, 422].includes(error.status);
      const stored = readStored(name);
      // Another key is that of a new sign-in; none is that of a sign-out.
      if (refused && (stored === key || stored === null)) return "refused";
    }
    await pause(wait_ms);
  }
}

/** After signing out: the next sign-in brings another key. */
export function forgetKey(): void {
  store(name, "");
  setPageKey(null);
  void forgetInWorker().catch(() => {});
}
