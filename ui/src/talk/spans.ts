// How long something has been going on, or took.

import { createEffect, createSignal, onCleanup } from "solid-js";
import { duration } from "../kit/duration";
import type { Heard } from "../state/flow";

const most = 1_000;

/** When it was first seen. Outlives what shows it: rows come and go as they are merged and scrolled. */
const seen = new Map<string, number>();

/** The time of now, told anew every second while somebody needs it. */
export function createNow(isOn: () => boolean): () => number {
  const [now, setNow] = createSignal(Date.now());
  createEffect(() => {
    if (!isOn()) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    onCleanup(() => clearInterval(timer));
  });
  return now;
}

/** Since when this page has seen it going on, in ms. */
export function createSpan(key: string, isOn: () => boolean): () => number {
  const now = createNow(isOn);
  return () => {
    const from = seen.get(key) ?? now();
    seen.set(key, from);
    if (seen.size > most) seen.delete(seen.keys().next().value ?? "");
    return Math.max(0, now() - from);
  };
}

/** What it took, as the server has written it down: in words from a second on, empty where that is not known. */
export function tookText(heard: Heard | null): string {
  return heard ? spanText(heard.to - heard.from - heard.waited) : "";
}

export const spanText = (ms: number): string => (ms >= 1_000 ? duration(ms) : "");

/** The same value, told at most so often: a line that changes faster cannot be read. */
export function createCalm<T>(value: () => T, pause_ms: number): () => T {
  const [calm, setCalm] = createSignal<T>(value());
  let timer: ReturnType<typeof setTimeout> | undefined;
  let notBefore = 0;
  createEffect(() => {
    const latest = value();
    clearTimeout(timer);
    const tell = () => {
      notBefore = Date.now() + pause_ms;
      setCalm(() => latest);
    };
    const wait = notBefore - Date.now();
    if (wait <= 0) tell();
    else timer = setTimeout(tell, wait);
  });
  onCleanup(() => clearTimeout(timer));
  return calm;
}
