// What agents keep of a session by themselves, and whether it goes with the session. Asked once in a browser.

import type { Agent } from "../api/types";
import { titleOf } from "./agents";
import { readStored, store } from "./storage";

const name = "agent-records";

/** Whether they go too; null where nobody was asked. */
export function recordsGo(): boolean | null {
  const stored = readStored(name);
  return stored === null ? null : stored === "delete";
}

export const keepRecordsGo = (go: boolean) => store(name, go ? "delete" : "keep");

/** The names of those that can delete their own records. */
export const recordKeepers = (agents: Agent[]): string[] =>
  agents.filter((agent) => agent.deletes_records).map((agent) => titleOf(agents, agent.id));
