// Keys that answer the question of now, where no field has focus.

import { onCleanup, onMount } from "solid-js";

/** A question that has just come is not answered by a key that was meant for something else. */
const settle_ms = 400;

const fields = "input, textarea, select, [contenteditable]";
const pressables = "button, a, summary, [role='button'], [role='menuitem']";

export function createAnswerKeys(isCurrent: () => boolean, onKey: (key: string) => boolean): void {
  const came = Date.now();
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target instanceof Element ? event.target : null;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return;
    if (!isCurrent() || Date.now() - came < settle_ms || target?.closest(fields)) return;
    if (document.querySelector("dialog[open], .menu")) return;
    if (event.key === "Enter" && target?.closest(pressables)) return;
    if (onKey(event.key.toLowerCase())) event.preventDefault();
  };
  onMount(() => {
    document.addEventListener("keydown", onKeyDown);
    onCleanup(() => document.removeEventListener("keydown", onKeyDown));
  });
}
