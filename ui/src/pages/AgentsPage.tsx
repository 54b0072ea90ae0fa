import { createSignal, For, onCleanup, Show } from "solid-js";
import { type Agents, abilityNames } from "../state/agents";
import { keepLooking } from "../state/look";
import { AbilityTable } from "./AbilityTable";
import { AgentItem } from "./AgentItem";
import { PageHeader } from "./PageHeader";

/** While one of them is being downloaded, somebody waits for it. */
const poll_ms = 2_000;

/** Where a table of all abilities of all agents does not fit, each agent lists its own. */
const narrow = window.matchMedia?.("(max-width: 899px)");

interface AgentsPageProps {
  agents: Agents;
  /** The one that somebody came for. */
  wanted?: string | undefined;
  onMenu(): void;
  /** Makes a session with it and goes there. */
  onStart(agent: string): Promise<void>;
}

/** Every agent: how it stands, what mends it, what it can do. */
export function AgentsPage(props: AgentsPageProps) {
  const [isNarrow, setNarrow] = createSignal(narrow?.matches ?? false);
  const onChange = (event: MediaQueryListEvent) => setNarrow(event.matches);
  narrow?.addEventListener("change", onChange);
  onCleanup(() => narrow?.removeEventListener("change", onChange));

  keepLooking(() => void props.agents.refresh());
  const timer = setInterval(() => {
    if (props.agents.list().some(({ health }) => health === "installing")) void props.agents.refresh();
  }, poll_ms);
  onCleanup(() => clearInterval(timer));

  return (
    <main class="pane">
      <PageHeader title="Agents" onMenu={props.onMenu} />
      <div class="page" tabindex="-1">
        <div class="agent-rows card">
          <div class="agent-row agent-row-head" aria-hidden="true">
            <span />
            <span>Agent</span>
            <span>State</span>
            <span>Can do</span>
            <span>After a restart</span>
          </div>
          <ul aria-label="Agents">
            <For each={props.agents.list().map(({ id }) => id)}>
              {(id) => (
                <Show when={props.agents.list().find((agent) => agent.id === id)}>
                  {(agent) => (
                    <AgentItem
                      agent={agent()}
                      isWanted={id === props.wanted}
                      isDefault={id === props.agents.preferred()}
                      withAbilities={isNarrow()}
                      onStart={() => props.onStart(id)}
                      onChanged={(changed) => (changed ? props.agents.put(changed) : void props.agents.refresh())}
                    />
                  )}
                </Show>
              )}
            </For>
          </ul>
        </div>
        <Show when={!isNarrow() && abilityNames(props.agents.list()).length > 0}>
          <AbilityTable agents={props.agents.list()} />
        </Show>
      </div>
    </main>
  );
}
