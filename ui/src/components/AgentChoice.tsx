import { createMemo, For } from "solid-js";
import type { Agent } from "../api/types";
import { agentChoices } from "../state/agents";
import { watch_only, watchesOnly } from "../state/device";

interface AgentChoiceProps {
  agents: Agent[];
  chosen: string | undefined;
  onChoose(agent: string): void;
}

/** Which agent works; those that cannot are there with the reason. */
export function AgentChoice(props: AgentChoiceProps) {
  const choices = createMemo(() => agentChoices(props.agents, props.chosen));
  return (
    <label class="agent-choice" title={watchesOnly() ? watch_only : undefined}>
      <span>Agent</span>
      <select disabled={watchesOnly()} onChange={(event) => props.onChoose(event.currentTarget.value)}>
        <For each={choices()}>
          {(choice) => (
            <option value={choice.id} selected={choice.id === props.chosen} disabled={choice.disabled}>
              {choice.label}
            </option>
          )}
        </For>
      </select>
    </label>
  );
}
