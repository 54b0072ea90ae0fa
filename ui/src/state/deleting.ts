// Deleting with a way back: a session leaves the list at once, and the server when nobody has taken that back.

import { createSignal } from "solid-js";
import { address } from "../api/address";
import { api, callLeaving, sentence } from "../api/client";
import { tell, tellUndoable } from "../kit/toasts";

const [doomed, setDoomed] = createSignal<ReadonlySet<string>>(new Set());

/** Is on its way out. */
export const isDoomed = (id: string) => doomed().has(id);

const spare = (id: string) => setDoomed((ids) => new Set([...ids].filter((other) => other !== id)));

/** `onUndone` brings back what was open; `onDeleted` is told when it is final. */
export function deleteLater(id: string, onUndone: () => void, onDeleted: () => void): void {
  if (isDoomed(id)) return;
  setDoomed((ids) => new Set([...ids, id]));
  const stop = () => window.removeEventListener("pagehide", onLeave);
  // Whoever closes the page has not taken it back.
  const onLeave = () => callLeaving("DELETE", address("/api/sessions/{id}", { id }));
  window.addEventListener("pagehide", onLeave);
  tellUndoable(
    "Session deleted",
    () => {
      stop();
      spare(id);
      onUndone();
    },
    () => {
      stop();
      api.deleteSession(id).then(onDeleted, (reason) => {
        spare(id);
        tell(`It was not deleted: ${sentence(reason)}`);
      });
    },
  );
}
