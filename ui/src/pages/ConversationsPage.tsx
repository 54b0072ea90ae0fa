import { createMemo, createSignal, For, Match, Show, Switch } from "solid-js";
import type { Agent, Conversation } from "../api/types";
import { Icon } from "../kit/Icon";
import { InlineError } from "../kit/InlineError";
import { Spinner } from "../kit/Spinner";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import { titleOf } from "../state/agents";
import { agentsOf, createConversations, type Wanted, wantedOf } from "../state/conversations";
import { watch_only, watchesOnly } from "../state/device";
import { Prose } from "../talk/Prose";
import { ConversationRow } from "./ConversationRow";
import { PageHeader } from "./PageHeader";

/** Of one directory; the rest is a press away. */
const page_size = 30;

interface ConversationsPageProps {
  agents: Agent[];
  onMenu(): void;
  /** Makes a session that goes on with it, and goes there. */
  onContinue(conversation: Conversation): Promise<void>;
}

/** All conversations of all agents, by the directory that they are about. */
export function ConversationsPage(props: ConversationsPageProps) {
  const conversations = createConversations();
  const [wanted, setWanted] = createSignal<Wanted>({ text: "", agent: "" });
  const [taking, setTaking] = createSignal<Conversation | null>(null);
  const taken = createSubmit();
  const found = createMemo(() => {
    const list = conversations.list();
    return list && wantedOf(list, wanted());
  });
  const agents = createMemo(() => {
    const list = conversations.list();
    return list ? agentsOf(list) : [];
  });
  const isEmpty = () => conversations.list()?.directories.every((directory) => directory.conversations.length === 0);
  const take = async (conversation: Conversation) => {
    setTaking(conversation);
    await taken.submit(() => props.onContinue(conversation));
    setTaking(null);
  };

  return (
    <main class="pane">
      <PageHeader title="Resume a session" onMenu={props.onMenu} />
      <div class="page">
        <div class="conversation-tools">
          <input
            type="search"
            class="field"
            aria-label="Filter the conversations"
            placeholder="Filter by title or folder"
            onInput={(event) => setWanted({ ...wanted(), text: event.currentTarget.value })}
          />
          <Show when={agents().length > 1}>
            <span class="select">
              <select
                class="field"
                aria-label="Agent of the conversations"
                onChange={(event) => setWanted({ ...wanted(), agent: event.currentTarget.value })}
              >
                <option value="">All agents</option>
                <For each={agents()}>
                  {(id) => (
                    <option value={id} selected={id === wanted().agent}>
                      {titleOf(props.agents, id)}
                    </option>
                  )}
                </For>
              </select>
              <Icon name="more" size="small" />
            </span>
          </Show>
          <button
            type="button"
            class="button"
            disabled={conversations.asking() || watchesOnly()}
            title={watchesOnly() ? watch_only : undefined}
            aria-describedby="ask-hint"
            onClick={() => void conversations.ask()}
          >
            <Show when={conversations.asking()}>
              <Spinner />{" "}
            </Show>
            Ask the agents
          </button>
        </div>
        <p id="ask-hint" class="conversation-hint" role="status">
          <Show
            when={conversations.asking()}
            fallback="Agents keep their own conversations, started in a terminal or an editor. Asking starts each agent briefly."
          >
            Starting the agents and asking for their conversations. This can take a few seconds.
          </Show>
        </p>
        <Asked agents={props.agents} asked={conversations.list()?.agents ?? []} />
        <InlineError message={taken.error() ?? conversations.error()} />
        <Switch>
          <Match when={conversations.list() === null && conversations.error() === null}>
            <p class="log-hint">
              <Spinner /> Loading the conversations…
            </p>
          </Match>
          <Match when={isEmpty()}>
            <p class="conversation-none">No conversations yet. Start a session, or ask the agents for theirs.</p>
          </Match>
          <Match when={found()?.length === 0}>
            <p class="conversation-none">No matches.</p>
          </Match>
        </Switch>
        <For each={found()}>
          {(directory) => (
            <Directory
              path={directory.work_dir}
              conversations={directory.conversations}
              agents={props.agents}
              taking={taking()}
              onContinue={(conversation) => void take(conversation)}
            />
          )}
        </For>
      </div>
    </main>
  );
}

/** Which agents did not tell what they have, and why. */
function Asked(props: { agents: Agent[]; asked: { agent: string; problem?: string | null }[] }) {
  const failed = createMemo(() => props.asked.filter(({ problem }) => problem));
  return (
    <Show when={failed().length > 0}>
      <ul class="conversation-problems" aria-label="Agents that did not answer">
        <For each={failed()}>
          {({ agent, problem }) => (
            <li>
              <strong>{titleOf(props.agents, agent)}</strong> <Prose text={problem ?? ""} />
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

interface DirectoryProps {
  path: string;
  conversations: Conversation[];
  agents: Agent[];
  taking: Conversation | null;
  onContinue(conversation: Conversation): void;
}

function Directory(props: DirectoryProps) {
  const [shown, setShown] = createSignal(page_size);
  const name = () => props.path.split("/").filter(Boolean).at(-1) ?? props.path;
  return (
    <section class="conversation-directory" aria-label={props.path}>
      <h2>
        <Visible text={name()} />{" "}
        <span class="conversation-path">
          <Visible text={props.path} />
        </span>
      </h2>
      <ul class="card">
        <For each={props.conversations.slice(0, shown())}>
          {(conversation) => (
            <ConversationRow
              conversation={conversation}
              agent={titleOf(props.agents, conversation.agent)}
              taking={props.taking === conversation}
              disabled={props.taking !== null}
              onContinue={() => props.onContinue(conversation)}
            />
          )}
        </For>
      </ul>
      <Show when={props.conversations.length > shown()}>
        <button type="button" class="button small" onClick={() => setShown(shown() + page_size)}>
          Show more ({props.conversations.length - shown()})
        </button>
      </Show>
    </section>
  );
}
