// Parts of the page that are loaded when they are first needed, which may be while the server is away.

import { type Component, createComponent, lazy } from "solid-js";

const pause_ms = 2_000;
/** Failures after which the browser may be what stands in the way. */
const suspicious_count = 2;
/** A page that was opened anew for the sake of a part is not opened anew again so soon. */
const reload_pause_ms = 60_000;
const reloaded_name = "voxpilot.reloaded";

/** A component that is loaded when it is first shown, or before by `preload`. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the component takes
export function later<T extends Component<any>>(load: () => Promise<T>): T & { preload(): Promise<unknown> } {
  let isShown = false;
  const Part = lazy(async () => ({ default: await insist(load, () => isShown) }));
  // biome-ignore lint/suspicious/noExplicitAny: passed on as it came
  const Shown = (props: any) => {
    isShown = true;
    return createComponent(Part, props);
  };
  return Object.assign(Shown, { preload: Part.preload }) as unknown as T & { preload(): Promise<unknown> };
}

/**
 * Loads a module, and while the server is away tries again: a part that comes late is better than one that never comes.
 * Some browsers remember for as long as a page lives that a module could not be fetched. Where somebody waits for the part
 * (`isNeeded`) and the server is back, the page is opened anew; what was written is kept.
 */
export async function insist<T>(load: () => Promise<T>, isNeeded = () => true): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    const isSuspicious = failures >= suspicious_count && isNeeded() && (await isServerThere());
    try {
      return await load();
    } catch (reason) {
      // This is how a browser says that it could not be fetched. Anything else is the module's own.
      if (!(reason instanceof TypeError)) throw reason;
      if (isSuspicious) openAnew();
      await new Promise((resolve) => setTimeout(resolve, pause_ms));
    }
  }
}

const isServerThere = () =>
  fetch("/favicon.svg", { method: "HEAD", cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );

export const page = { reload: () => location.reload() };

function openAnew(): void {
  try {
    if (Date.now() - Number(sessionStorage.getItem(reloaded_name)) < reload_pause_ms) return;
    sessionStorage.setItem(reloaded_name, String(Date.now()));
  } catch {
    // Where that cannot be remembered, it could go on for ever.
    return;
  }
  page.reload();
}
