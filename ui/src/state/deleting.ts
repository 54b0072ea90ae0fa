// Deleting with a way back: a session leaves the list at once, and the server when nobody has taken that back.

import { address } from "../api/address";
import { ApiError, api, currentKey, sentence } from "../api/client";
import { tell, tellUndoable } from "../kit/toasts";
import type { Agents } from "./agents";
import { doomed, isDoomed, kept_name, setDoomed } from "./doomed";
import { recordKeepers, recordsChoice } from "./records";
import { visible } from "./visible";

function doom(ids: readonly string[]): void {
  setDoomed(ids);
  try {
    if (ids.length > 0) sessionStorage.setItem(kept_name, ids.join());
    else sessionStorage.removeItem(kept_name);
  } catch {
    // Then it is as good as the request that is sent when the page goes.
  }
}

const recordsGo = () => recordsChoice() === "delete";
const spare = (id: string) => doom(doomed().filter((other) => other !== id));

async function finish(id: string, withRecords: boolean, onDeleted: () => void): Promise<void> {
  try {
    const done = await api.deleteSession(id, withRecords).catch((reason) => {
      // It was heard when the page before this one went.
      if (!(reason instanceof ApiError && reason.status === 404)) throw reason;
    });
    for (const { agent, reason } of done?.kept_records ?? []) {
      tell(`The session is deleted. The agent still has its own record. ${visible(reason) || visible(agent)}`);
    }
    onDeleted();
  } catch (reason) {
    tell(`Not deleted: ${sentence(reason)}`);
  }
  spare(id);
}

/** What the page that was here before had begun, and nobody has taken back. */
export function finishDeleting(onDeleted: (id: string) => void): void {
  for (const id of doomed()) void finish(id, recordsGo(), () => onDeleted(id));
}

/** Whoever closes the page has not taken it back. The answer is nobody's any more. */
function callLeaving(id: string, withRecords: boolean): void {
  const key = currentKey();
  const headers: Record<string, string> = key === null ? {} : { "x-voxpilot-key": key };
  const request = { method: "DELETE", credentials: "same-origin", keepalive: true, headers } as const;
  const query = withRecords ? "?agent_records=true" : "";
  void fetch(address("/api/sessions/{id}", { id }) + query, request).catch(() => {});
}

/** The agents whose own records somebody has not yet decided about. What an agent can do is known once it has run. */
export async function keepersToAskAbout(agents: Agents): Promise<string[]> {
  if (recordsChoice() !== "ask") return [];
  await agents.refresh();
  return recordKeepers(agents.list());
}

/** `onUndone` brings back what was open; `onDeleted` is told when it is final. */
export function deleteLater(id: string, onUndone: () => void, onDeleted: () => void): void {
  if (isDoomed(id)) return;
  doom([...doomed(), id]);
  // What is told now is what happens, whatever is chosen meanwhile.
  const withRecords = recordsGo();
  const onLeave = () => callLeaving(id, withRecords);
  const stop = () => window.removeEventListener("pagehide", onLeave);
  window.addEventListener("pagehide", onLeave);
  tellUndoable(
    withRecords ? "Session deleted, with the agent’s own record" : "Session deleted",
    () => {
      stop();
      spare(id);
      onUndone();
    },
    () => void finish(id, withRecords, onDeleted).then(stop),
  );
}
