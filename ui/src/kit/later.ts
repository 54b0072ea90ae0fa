// Parts of the page that are loaded when they are first needed, which may be while the server is away.

import { type Component, lazy } from "solid-js";

const pause_ms = 2_000;

/** A component that is loaded when it is first shown. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the component takes
export const later = <T extends Component<any>>(load: () => Promise<T>) =>
  lazy(async () => ({ default: await insist(load) }));

/** Loads a module, and while the server is away tries again: a part that comes late is better than one that never comes. */
export async function insist<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load();
    } catch (reason) {
      // This is how a browser says that it could not be fetched. Anything else is the module's own.
      if (!(reason instanceof TypeError)) throw reason;
      await new Promise((resolve) => setTimeout(resolve, pause_ms));
    }
  }
}
