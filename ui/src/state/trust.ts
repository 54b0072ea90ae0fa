// The project's own settings file: whether it waits for consent, and what becomes of an answer.

import { createSignal, onCleanup } from "solid-js";
import { api } from "../api/client";
import type { Trust } from "../api/types";
import { keepLooking } from "./look";
import { readStored, store } from "./storage";

const later_name = "trust.later";
const poll_ms = 500;
/** So long a server may take to start again before somebody is told. */
const restart_limit_ms = 60_000;

export interface TrustState {
  file: () => Trust | null;
  /** Whether somebody is to be asked here and now. */
  asks: () => boolean;
  /** The server takes itself up anew, so that the answer holds. */
  restarting: () => boolean;
  /** Not now: asked again when the file has changed. */
  later(): void;
  consent(): Promise<void>;
  revoke(): Promise<void>;
}

export function createTrust(onRestarted: () => void): TrustState {
  const [file, setFile] = createSignal<Trust | null>(null);
  const [later, setLater] = createSignal(readStored(later_name));
  const [restarting, setRestarting] = createSignal(false);
  let closed = false;
  onCleanup(() => {
    closed = true;
  });

  const look = async (): Promise<Trust | null> => {
    const found = await api.trust().catch(() => null);
    if (found) setFile(found);
    return found;
  };
  keepLooking(() => void look());

  /** Until a server answers that was started with the file as it now counts. */
  const awaitRestart = async (isTrusted: boolean) => {
    const end = Date.now() + restart_limit_ms;
    setRestarting(true);
    try {
      while (!closed && Date.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, poll_ms));
        const found = await look();
        if (found?.applied && (found.state === "trusted") === isTrusted) return onRestarted();
      }
    } finally {
      setRestarting(false);
    }
    if (!closed) throw new Error("VoxPilot has not restarted yet. Check its terminal.");
  };

  return {
    file,
    asks: () => file()?.state === "waiting" && file()?.hash !== later(),
    restarting,
    later() {
      const hash = file()?.hash ?? "";
      store(later_name, hash);
      setLater(hash);
    },
    async consent() {
      const hash = file()?.hash;
      if (hash == null) return;
      try {
        await api.consent(hash);
      } catch (error) {
        // It may have changed under the reader's eyes: then the new lines are to be read.
        await look();
        throw error;
      }
      await awaitRestart(true);
    },
    async revoke() {
      await api.revokeTrust();
      await awaitRestart(false);
    },
  };
}
