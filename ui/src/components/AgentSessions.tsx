import { createEffect, createSignal, For, on, Show } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { api, sentence } from "../api/client";
import type { AgentChoice, AgentOption, AgentSession } from "../api/types";
import { watch_only, watchesOnly } from "../state/device";
import { useAgentNames } from "./agentNames";
import { ContextMeter } from "./ContextMeter";
import { Visible } from "./Visible";

/** Follows the session's permission policy, which is set elsewhere. */
const kept_in_line = "allow_all";

interface AgentSessionsProps {
  sessionId: string;
  /** Grows when what is shown may be old. */
  news: number;
}

/** The named sessions of the agent: how each stands, and what can be set in it. */
export function AgentSessions(props: AgentSessionsProps) {
  const names = useAgentNames();
  const [state, setState] = createStore<{ agents: AgentSession[] }>({ agents: [] });
  const take = (agents: AgentSession[]) => setState("agents", reconcile(agents, { key: "name" }));
  createEffect(
    on(
      () => [props.sessionId, props.news] as const,
      ([id]) => {
        api.agentSessions(id).then(
          ({ agents }) => take(agents),
          // What was known stays; the next news asks again.
          () => {},
        );
      },
    ),
  );
  const set = async (name: string, id: string, value: string | boolean) => {
    const changed = await api.setAgent(props.sessionId, name, { [id]: value });
    take(state.agents.map((agent) => (agent.name === name ? changed : agent)));
  };
  return (
    <Show when={state.agents.length > 0}>
      <details class="agent-sessions">
        <summary>
          <For each={state.agents}>
            {(agent) => (
              <span>
                🤖 <Visible text={`${names.titled(agent.agent)} [${agent.name}]`} />{" "}
                <Show when={modeName(agent)}>{(mode) => <span class="badge">{mode()}</span>}</Show>
              </span>
            )}
          </For>
        </summary>
        <ul aria-label="Agent sessions">
          <For each={state.agents}>
            {(agent) => <AgentRow agent={agent} onSet={(id, value) => set(agent.name, id, value)} />}
          </For>
        </ul>
      </details>
    </Show>
  );
}

interface AgentRowProps {
  agent: AgentSession;
  onSet(id: string, value: string | boolean): Promise<void>;
}

function AgentRow(props: AgentRowProps) {
  const names = useAgentNames();
  const [error, setError] = createSignal<string | null>(null);
  const set = async (id: string, value: string | boolean): Promise<boolean> => {
    setError(null);
    try {
      await props.onSet(id, value);
      return true;
    } catch (reason) {
      setError(sentence(reason));
      return false;
    }
  };
  const options = () => (props.agent.options ?? []).filter((option) => option.id !== kept_in_line);
  const usage = () => props.agent.usage as { used: number | null; size: number | null } | null;
  return (
    <li class="agent-session">
      <span class="agent-session-name">
        <Visible text={`${names.titled(props.agent.agent)} [${props.agent.name}]`} />{" "}
        <span class="badge">{props.agent.state}</span>
      </span>
      <Show when={props.agent.title}>
        {(title) => (
          <span class="agent-session-title">
            <Visible text={title()} />
          </span>
        )}
      </Show>
      <For each={options()}>{(option) => <Option agent={props.agent} option={option} onSet={set} />}</For>
      <ContextMeter usage={usage()} />
      <Show when={error()}>
        {(message) => (
          <p class="inline-error" role="alert">
            {message()}
          </p>
        )}
      </Show>
    </li>
  );
}

interface OptionProps {
  agent: AgentSession;
  option: AgentOption;
  /** Whether it was done. */
  onSet(id: string, value: string | boolean): Promise<boolean>;
}

function Option(props: OptionProps) {
  const waits = () => props.option.id in (props.agent.wanted ?? {});
  const value = () => props.agent.wanted?.[props.option.id] ?? props.option.currentValue;
  const label = () => `${props.option.name ?? props.option.id}${waits() ? " (with the next prompt)" : ""}`;
  const choose = async (select: HTMLSelectElement) => {
    if (!(await props.onSet(props.option.id, select.value))) select.value = String(value());
  };
  return (
    <label title={watchesOnly() ? watch_only : (props.option.description ?? "")}>
      <span>{label()}</span>
      <Show
        when={props.option.type !== "boolean"}
        fallback={
          <input
            type="checkbox"
            disabled={watchesOnly()}
            checked={value() === true}
            onChange={async (event) => {
              const box = event.currentTarget;
              if (!(await props.onSet(props.option.id, box.checked))) box.checked = value() === true;
            }}
          />
        }
      >
        <select disabled={watchesOnly()} onChange={(event) => void choose(event.currentTarget)}>
          <For each={choicesOf(props.option.options)}>
            {(choice) => (
              <option value={choice.value ?? ""} selected={choice.value === value()}>
                {choice.name ?? choice.value}
              </option>
            )}
          </For>
        </select>
      </Show>
    </label>
  );
}

/** The choices, those in groups among them. */
function choicesOf(list: AgentChoice[] | null | undefined): AgentChoice[] {
  return (list ?? []).flatMap((choice) => (choice.options ? choicesOf(choice.options) : [choice]));
}

function modeName(agent: AgentSession): string | undefined {
  const option = agent.options?.find((option) => option.category === "mode");
  const value = agent.wanted?.[option?.id ?? ""] ?? option?.currentValue;
  return choicesOf(option?.options).find((choice) => choice.value === value)?.name ?? undefined;
}
