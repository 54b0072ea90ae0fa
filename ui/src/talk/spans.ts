// How long something has been going on, as far as this page was there to see it.

import { createEffect, createSignal, onCleanup } from "solid-js";

const most = 1_000;

interface Span {
  from: number;
  to: number | null;
}

/** Outlives what shows it: rows come and go as they are merged and scrolled. */
const spans = new Map<string, Span>();

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

/** Null where it was not seen to begin. */
export function createSpan(key: string, isOn: () => boolean): () => number | null {
  const now = createNow(isOn);
  const [known, setKnown] = createSignal(spans.get(key) ?? null, { equals: false });
  createEffect(() => {
    const span = spans.get(key);
    if (isOn()) {
      if (!span) spans.set(key, { from: Date.now(), to: null });
    } else if (span && span.to === null) span.to = Date.now();
    if (spans.size > most) spans.delete(spans.keys().next().value ?? "");
    setKnown(spans.get(key) ?? null);
  });
  return () => {
    const span = known();
    return span === null ? null : (span.to ?? Math.max(now(), span.from)) - span.from;
  };
}

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
