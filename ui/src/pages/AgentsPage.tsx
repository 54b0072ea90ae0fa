import { createMemo, createSignal, For, onCleanup, Show } from "solid-js";
import { Button } from "../kit/Button";
import { later } from "../kit/later";
import { AgentMark } from "../kit/small";
import { type Agents, isBusy } from "../state/agents";
import { keepLooking } from "../state/look";
import { AgentItem } from "./AgentItem";
import "./agents.css";
import { MissingAgent } from "./MissingAgent";
import { PageHeader } from "./PageHeader";

const OtherAgentDialog = later(async () => (await import("./OtherAgentDialog")).OtherAgentDialog);

/** While one of them is tested or installed, somebody waits for it. */
const poll_ms = 1_000;

interface AgentsPageProps {
  agents: Agents;
  /** The one that somebody came for. */
  wanted?: string | undefined;
  onMenu(): void;
  /** Makes a session with it and goes there. */
  onStart(agent: string): Promise<void>;
}

/** Every agent: those that are here, how each stands and what mends it, and those that could be. */
export function AgentsPage(props: AgentsPageProps) {
  const [isAdding, setAdding] = createSignal(false);
  const one = (id: string) => props.agents.list().find((agent) => agent.id === id);
  const ids = (installed: boolean) =>
    createMemo(() =>
      props.agents
        .list()
        .filter((agent) => agent.installed === installed)
        .map(({ id }) => id),
    );
  const here = ids(true);
  const missing = ids(false);

  keepLooking(() => void props.agents.refresh());
  const timer = setInterval(() => {
    if (props.agents.list().some(isBusy)) void props.agents.refresh();
  }, poll_ms);
  onCleanup(() => clearInterval(timer));

  return (
    <main class="pane">
      <PageHeader title="Agents" onMenu={props.onMenu} />
      <div class="page agents-page" tabindex="-1">
        <section aria-labelledby="agents-here">
          <h2 id="agents-here">
            Installed <span class="num">{here().length}</span>
          </h2>
          <ul class="card" aria-label="Installed agents">
            <For each={here()}>
              {(id) => (
                <Show when={one(id)}>
                  {(agent) => (
                    <AgentItem
                      agent={agent()}
                      isWanted={id === props.wanted}
                      isDefault={id === props.agents.preferred()}
                      onStart={() => props.onStart(id)}
                      onChanged={(changed) => (changed ? props.agents.put(changed) : void props.agents.refresh())}
                    />
                  )}
                </Show>
              )}
            </For>
          </ul>
        </section>
        <section aria-labelledby="agents-more">
          <h2 id="agents-more">Add an agent</h2>
          <ul class="card" aria-label="Agents to add">
            <For each={missing()}>
              {(id) => (
                <Show when={one(id)}>
                  {(agent) => (
                    <MissingAgent
                      agent={agent()}
                      isWanted={id === props.wanted}
                      onChanged={(changed) => props.agents.put(changed)}
                    />
                  )}
                </Show>
              )}
            </For>
            <li class="agent-more-row">
              <AgentMark agent="" />
              <h3>Another agent</h3>
              <span class="grow">Any program that speaks ACP</span>
              <Button small aria-label="How to add another agent" onClick={() => setAdding(true)}>
                How…
              </Button>
            </li>
          </ul>
          <p class="soft">Install runs on the server. You see the command and confirm it first.</p>
        </section>
      </div>
      <Show when={isAdding()}>
        <OtherAgentDialog onClose={() => setAdding(false)} />
      </Show>
    </main>
  );
}
