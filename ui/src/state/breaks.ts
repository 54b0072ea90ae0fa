// How long the connection has been gone, once that is worth a word.

import { createSignal } from "solid-js";

/** A break shorter than this is nobody's business. */
const quiet_break_ms = 1_000;

export interface Break {
  since: Date;
  /** Attempts to connect that came to nothing. */
  tries: number;
}

export interface Breaks {
  /** Null while there is a connection, and for the first moments without one. */
  current: () => Break | null;
  /** The connection is gone, or an attempt to get it back has failed. */
  failed(): void;
  mended(): void;
  close(): void;
}

export function createBreaks(onMended: () => void): Breaks {
  const [told, tell] = createSignal<Break | null>(null);
  let current: Break | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    current: told,
    failed() {
      if (current === null) {
        current = { since: new Date(), tries: 0 };
        timer = setTimeout(() => tell(current), quiet_break_ms);
        return;
      }
      current = { ...current, tries: current.tries + 1 };
      if (told() !== null) tell(current);
    },
    mended() {
      if (current === null) return;
      current = null;
      clearTimeout(timer);
      tell(null);
      onMended();
    },
    close: () => clearTimeout(timer),
  };
}
