// What can be set in the agent's own sessions: its mode above all, and how full its memory of the conversation is.

import { createEffect, createMemo, on } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { api } from "../api/client";
import type { AgentChoice, AgentOption, AgentSession } from "../api/types";

/** Follows the session's permission policy, which is set elsewhere. */
const kept_in_line = "allow_all";
/** The agent session that a person talks to where nothing else is said. */
const main_name = "main";

export interface AgentOptions {
  sessions: AgentSession[];
  /** Of the agent session that is spoken to. */
  main: () => AgentSession | undefined;
  /** 0 to 1; null where the agent does not say. */
  usage: () => { used: number; size: number } | null;
  set(name: string, option: string, value: string | boolean): Promise<void>;
}

/** `news` grows when what is known may be old. */
export function createAgentOptions(sessionId: string, news: () => number): AgentOptions {
  const [state, setState] = createStore<{ sessions: AgentSession[] }>({ sessions: [] });
  const take = (sessions: AgentSession[]) => setState("sessions", reconcile(sessions, { key: "name" }));
  createEffect(
    on(news, () => {
      api.agentSessions(sessionId).then(
        ({ agents }) => take(agents),
        // What was known stays; the next news asks again.
        () => {},
      );
    }),
  );
  const main = createMemo(() => state.sessions.find(({ name }) => name === main_name) ?? state.sessions[0]);
  return {
    get sessions() {
      return state.sessions;
    },
    main,
    usage() {
      const { used, size } = (main()?.usage ?? {}) as { used?: number | null; size?: number | null };
      return used != null && size != null && size > 0 ? { used, size } : null;
    },
    async set(name, option, value) {
      const changed = await api.setAgent(sessionId, name, { [option]: value });
      take(state.sessions.map((agent) => (agent.name === name ? changed : agent)));
    },
  };
}

export function optionsOf(agent: AgentSession): AgentOption[] {
  return (agent.options ?? []).filter(({ id }) => id !== kept_in_line);
}

/** What holds, or will with the next prompt. */
export function currentOf(agent: AgentSession, option: AgentOption): unknown {
  return agent.wanted?.[option.id] ?? option.currentValue;
}

/** It was set, and the agent has not been told yet. */
export function isWanted(agent: AgentSession, option: AgentOption): boolean {
  return option.id in (agent.wanted ?? {});
}

/** The choices, those in groups among them. */
export function choicesOf(list: AgentChoice[] | null | undefined): AgentChoice[] {
  return (list ?? []).flatMap((choice) => (choice.options ? choicesOf(choice.options) : [choice]));
}

export function modeOf(agent: AgentSession | undefined): string | undefined {
  const option = agent?.options?.find(({ category }) => category === "mode");
  if (!agent || !option) return undefined;
  const value = currentOf(agent, option);
  return choicesOf(option.options).find((choice) => choice.value === value)?.name ?? undefined;
}
