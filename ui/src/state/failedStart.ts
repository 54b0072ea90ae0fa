// A session that the server refused to make: its text is back in the composer, and this says why.

import { createSignal } from "solid-js";

export interface FailedStart {
  text: string;
  /** The model that was wanted, where it has no provider. */
  model: string | null;
}

export const [failedStart, setFailedStart] = createSignal<FailedStart | null>(null);
