// What agents keep of a session by themselves, and whether it goes with the session. Asked once in a browser.

import { createSignal } from "solid-js";
import type { Agent } from "../api/types";
import { titleOf } from "./agents";
import { readStored, store } from "./storage";

export const recordsChoices = ["ask", "delete", "keep"] as const;
export type RecordsChoice = (typeof recordsChoices)[number];

const name = "agent-records";
const [changes, setChanges] = createSignal(0);

/** What becomes of them when a session is deleted. */
export function recordsChoice(): RecordsChoice {
  changes();
  const stored = readStored(name);
  return recordsChoices.find((choice) => choice === stored) ?? "ask";
}

export function chooseRecords(choice: RecordsChoice): void {
  store(name, choice === "ask" ? "" : choice);
  setChanges(changes() + 1);
}

/** The names of those that can delete their own records. */
export const recordKeepers = (agents: Agent[]): string[] =>
  agents.filter((agent) => agent.deletes_records).map((agent) => titleOf(agents, agent.id));
