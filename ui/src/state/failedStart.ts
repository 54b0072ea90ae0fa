// A session that the server refused to make: its text is back in the composer, and this says why.

import { createSignal } from "solid-js";

export interface FailedStart {
  text: string;
  /** The model that was wanted, where it has no provider. */
  model: string | null;
}

/** As a sentence begins. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const [failedStart, setFailedStart] = createSignal<FailedStart | null>(null);
