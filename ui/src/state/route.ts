// What the address names: a session, or one of the other pages. The part behind # never reaches the server, so it needs no routes there.

import { batch, createSignal } from "solid-js";

const pages = ["agents", "conversations"] as const;
export type Page = (typeof pages)[number];

const pattern = /^#\/sessions\/([\w-]+)$/;

function readSession(): string | null {
  return pattern.exec(location.hash)?.[1] ?? null;
}

function readPage(): Page | null {
  return pages.find((page) => location.hash === pageHref(page)) ?? null;
}

const [activeId, setActiveId] = createSignal(readSession());
const [activePage, setActivePage] = createSignal(readPage());

/** At once: somebody who sees neither for a moment would open the latest session. */
function read(): void {
  batch(() => {
    setActiveId(readSession());
    setActivePage(readPage());
  });
}
window.addEventListener("hashchange", read);

export { activeId, activePage };

export function sessionHref(id: string): string {
  return `#/sessions/${id}`;
}

export function pageHref(page: Page): string {
  return `#/${page}`;
}

export function goTo(id: string | null): void {
  if (id === null) history.replaceState(null, "", location.pathname + location.search);
  else location.hash = sessionHref(id);
  read();
}
