// The agents that there are: what is known of each, and what that means for somebody who wants to work with it.

import { createResource } from "solid-js";
import { api } from "../api/client";
import type { Ability, Agent, Catalogue } from "../api/types";
import { ago } from "../kit/time";
import { shortTitle } from "./delegation";

export interface Agents {
  list: () => Agent[];
  /** The one that works where nobody chooses. */
  preferred: () => string | undefined;
  refresh(): Promise<void>;
  /** What the server has just said of one of them. */
  put(agent: Agent): void;
}

/** They are asked for as soon as the server has answered at all: a page may be opened without a connection. */
export function createAgents(isConnected: () => boolean): Agents {
  const [catalogue, { mutate }] = createResource(isConnected, () => api.agents().catch(() => undefined));
  const known = (): Catalogue | undefined => catalogue.latest;
  return {
    list: () => known()?.agents ?? [],
    preferred: () => known()?.default,
    async refresh() {
      try {
        mutate(await api.agents());
      } catch {
        // What was known stays; the next look asks again.
      }
    },
    put(agent) {
      mutate(
        (before) =>
          before && { ...before, agents: before.agents.map((other) => (other.id === agent.id ? agent : other)) },
      );
    },
  };
}

/** What people call an agent; by its id where nothing is known of it. */
export function titleOf(agents: Agent[], id: string): string {
  return shortTitle(agents.find((agent) => agent.id === id)?.title ?? id);
}

export interface Standing {
  words: string;
  tone: "good" | "waiting" | "bad" | "busy" | "none";
}

const standings: Record<string, Standing> = {
  ok: { words: "Ready", tone: "good" },
  unknown: { words: "Not started yet", tone: "none" },
  login_required: { words: "Signed out", tone: "waiting" },
  failing: { words: "Failed to start", tone: "bad" },
  installing: { words: "Downloading", tone: "busy" },
  missing: { words: "Not installed", tone: "none" },
};

/** How it stands. A word that this page does not know is shown as it is. */
export function standing(agent: Agent): Standing {
  if (agent.sandbox === "unavailable") return { words: "No sandbox here", tone: "bad" };
  return standings[agent.health] ?? { words: agent.health.replaceAll("_", " "), tone: "none" };
}

/** Why nobody can work with it as it is; null where one can. A login is asked for when the first message waits for it. */
export function unusable(agent: Agent): string | null {
  if (!agent.installed) return "not installed";
  return agent.sandbox === "unavailable" ? "no sandbox here" : null;
}

/** Whether a message to it would be worked on now, as far as is known. */
export function isReady(agent: Agent | undefined): boolean {
  if (agent === undefined || unusable(agent) !== null) return false;
  return agent.logged_in !== false && !["login_required", "failing"].includes(agent.health);
}

const places: Record<string, string> = {
  npx: "with npx",
  built_in: "built in",
  remote: "on another machine",
};

/** Where it comes from, where that is not this machine as usual. */
export function foundText(agent: Agent): string {
  return places[agent.found ?? ""] ?? "";
}

const openFeatures: Record<string, string> = {
  metadata: "file modes, owners and times",
  sockets: "Unix sockets",
  signals: "signals",
  processes: "other processes",
  sharing: "shared memory and terminals",
};

/** What holds an agent that is sandboxed, and what its sandbox does not cover on this machine; empty where it is in none. */
export function sandboxText(agent: Agent): string {
  if (agent.sandbox == null || agent.sandbox === "unavailable") return "";
  const open = agent.sandbox_open.map((feature) => openFeatures[feature] ?? feature);
  if (open.length === 0) return "Runs in a sandbox.";
  return `Runs in a sandbox that does not cover everything on this machine: ${open.join(", ")}. See SECURITY.md.`;
}

/** The server's word for what nobody knows. */
const unknown = "unknown";

/** Whether it can do something; null where nobody knows. */
export function can(agent: Agent | undefined, ability: string): boolean | null {
  const value = agent?.abilities.find(({ id }) => id === ability)?.value ?? unknown;
  return value === unknown ? null : value !== "no";
}

/** The words of the server that are no yes or no, for people. */
const manners: Record<string, Record<string, string>> = {
  restores: { loaded: "with everything", resumed: "where it was", recap: "with a summary" },
  second_prompt: { queued: "is queued", cancels: "ends the first", steers: "steers the first" },
};

const sources: Record<string, string> = { agent: "reported by agent", probe: "tested" };

export interface Fact {
  words: string;
  /** `failed` where a test has shown that it cannot. */
  tone: "yes" | "no" | "failed";
  source: string;
}

/** What was tried of an agent, and what it says of itself; nothing that is only supposed. */
export function abilityFacts(agent: Agent): Fact[] {
  const isFact = ({ value, source }: Ability) => value !== unknown && source != null && source in sources;
  return agent.abilities.filter(isFact).map(({ id, title, value, source }) => {
    const manner = manners[id]?.[value];
    const tone = value !== "no" ? "yes" : source === "probe" ? "failed" : "no";
    return { words: manner ? `${title}, ${manner}` : title, tone, source: sources[source ?? ""] ?? "" };
  });
}

/** The same in a few words: "6 of 7 · tested today". */
export function summaryOf(agent: Agent, now = Date.now()): string {
  const facts = abilityFacts(agent);
  const failed = facts.filter(({ tone }) => tone === "failed").length;
  const count = `${facts.filter(({ tone }) => tone === "yes").length} of ${facts.length}`;
  const tested = agent.tested ? `tested ${ago(agent.tested.at, now)}` : "not tested";
  return [facts.length > 0 && count, failed > 0 && `${failed} failed`, tested].filter(Boolean).join(" · ");
}

/** What was tested when; empty where nothing was. */
export function testedText(agent: Agent): string {
  if (!agent.tested) return "";
  const { at, version } = agent.tested;
  return `Tested${version ? ` with ${version}` : ""} ${ago(at)}, offline, in an empty folder.`;
}

/** It is being tested or installed. */
export const isBusy = (agent: Agent) =>
  agent.health === "installing" || (agent.chore != null && agent.chore.problem == null);
