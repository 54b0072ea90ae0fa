// Something that is sent to the server: whether it is under way, and what went wrong with it.

import { createSignal } from "solid-js";
import { sentence } from "../api/client";

export interface Submit {
  busy: () => boolean;
  error: () => string | null;
  /** Says whether it worked. */
  submit(run: () => Promise<unknown>): Promise<boolean>;
}

export function createSubmit(): Submit {
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<string | null>(null);
  return {
    busy,
    error,
    async submit(run) {
      setBusy(true);
      setError(null);
      try {
        await run();
        return true;
      } catch (reason) {
        setError(sentence(reason));
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}
