// Which session the address names. The part behind # never reaches the server, so it needs no routes there.

import { createSignal } from "solid-js";

const pattern = /^#\/sessions\/([\w-]+)$/;

function readHash(): string | null {
  return pattern.exec(location.hash)?.[1] ?? null;
}

const [activeId, setActiveId] = createSignal(readHash());
window.addEventListener("hashchange", () => setActiveId(readHash()));

export { activeId };

export function sessionHref(id: string): string {
  return `#/sessions/${id}`;
}

export function goTo(id: string | null): void {
  if (id === null) {
    history.replaceState(null, "", location.pathname + location.search);
    setActiveId(null);
  } else {
    location.hash = sessionHref(id);
    setActiveId(id);
  }
}
