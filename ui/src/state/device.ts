// Which device this page is, and what it may do.

import { createSignal } from "solid-js";
import { api } from "../api/client";
import type { Device } from "../api/types";

const [device, setDevice] = createSignal<Device | null>(null);

export { device, setDevice };

/** Why something cannot be done here. */
export const watch_only = "This device can only watch.";

export const watchesOnly = () => device()?.kind === "read-only";

/** Where that cannot be found out, nothing is kept back: the server decides in any case. */
export async function loadDevice(): Promise<void> {
  const found = await api.devices().catch(() => null);
  if (found) setDevice(found.devices.find((known) => known.current) ?? null);
}
