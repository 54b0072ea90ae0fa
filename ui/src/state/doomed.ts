// Sessions on their way out: they have left the list, and the server has not been told yet.

import { createSignal } from "solid-js";

/** What the tab remembers over a reload: a request that a page sends as it goes may not arrive. */
export const kept_name = "voxpilot.deleting";

function kept(): string[] {
  try {
    return sessionStorage.getItem(kept_name)?.split(",") ?? [];
  } catch {
    return [];
  }
}

export const [doomed, setDoomed] = createSignal<readonly string[]>(kept());

export const isDoomed = (id: string) => doomed().includes(id);
