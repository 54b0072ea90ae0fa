import { createSignal, For, Show } from "solid-js";
import { sentence } from "../api/client";
import type { NewAttachment } from "../api/types";
import { type Agents, can } from "../state/agents";
import { watch_only, watchesOnly } from "../state/device";
import { queueFirst } from "../state/outbox";
import { goTo, pageHref } from "../state/route";
import type { ServerState } from "../state/server";
import type { Sessions } from "../state/sessions";
import { store } from "../state/storage";
import { AgentChoice } from "./AgentChoice";
import { addToDraftFiles, Composer } from "./Composer";
import { Icon } from "./Icon";
import { focusComposer } from "./keyboard";
import { PolicyChoice } from "./PolicyChoice";
import { Visible } from "./Visible";

const examples = ["Explain how this project is built", "Find a bug and fix it", "Write a test for what has none"];

interface WelcomeProps {
  sessions: Sessions;
  agents: Agents;
  server: ServerState;
  onMenu(): void;
}

/** The page before there is a session: the first message makes one. */
export function Welcome(props: WelcomeProps) {
  const [error, setError] = createSignal<string | null>(null);
  const [attempt, setAttempt] = createSignal(0);
  /** Without a choice the server takes its own. */
  const [chosen, setChosen] = createSignal<string>();
  const agent = () => chosen() ?? props.agents.preferred();
  const known = () => props.agents.list().find(({ id }) => id === agent());
  const isRelay = () => props.server.info()?.model === "relay";
  const suggestions = () => {
    const own = props.server.info()?.suggestions ?? [];
    return own.length > 0 ? own : examples;
  };
  /** The composer takes its text from what is stored when it is made anew. */
  const suggest = (content: string) => {
    store("draft.new", content);
    setAttempt(attempt() + 1);
    focusComposer();
  };
  const start = async (content: string, attachments: NewAttachment[]) => {
    setError(null);
    const agent = chosen();
    const draft = agent === undefined ? {} : { agent };
    try {
      const session = await props.sessions.create(draft, (fresh) => queueFirst(fresh.id, content, attachments));
      goTo(session.id);
    } catch (reason) {
      setError(sentence(reason));
      await addToDraftFiles("new", attachments);
      suggest(content);
    }
  };
  return (
    <main class="session">
      <header class="session-header welcome-header">
        <div class="header-row">
          <button
            type="button"
            class="icon-button menu-button"
            aria-label="Show sessions"
            onClick={() => props.onMenu()}
          >
            <Icon name="menu" />
          </button>
        </div>
      </header>
      <div class="welcome">
        <Show when={props.sessions.loaded()}>
          <h1>
            <Show when={props.server.info()?.title} fallback="Welcome to VoxPilot">
              {(title) => <Visible text={title()} />}
            </Show>
          </h1>
          <p>
            Say what you want done in your project. VoxPilot hands it to a coding agent and shows you the work as it
            happens, here and on every other device you open it on.
          </p>
          <ul class="examples" aria-label="Examples">
            <For each={suggestions()}>
              {(example) => (
                <li>
                  <button
                    type="button"
                    class="button"
                    disabled={watchesOnly()}
                    title={watchesOnly() ? watch_only : undefined}
                    onClick={() => suggest(example)}
                  >
                    <Visible text={example} />
                  </button>
                </li>
              )}
            </For>
          </ul>
          <PolicyChoice server={props.server} />
          <p>
            <a href={pageHref("agents")}>What each agent can do, and how to add one</a>
          </p>
        </Show>
      </div>
      <div class="dock">
        <Show when={error()}>
          {(message) => (
            <p class="inline-error" role="alert">
              {message()}
            </p>
          )}
        </Show>
        <Show when={props.agents.list().length > 0}>
          <AgentChoice agents={props.agents.list()} chosen={agent()} onChoose={setChosen} />
        </Show>
        <Show when={attempt() + 1} keyed>
          {(_) => (
            <Composer
              draftKey="new"
              running={false}
              stopping={false}
              imagesRefusedBy={isRelay() && can(known(), "images") === false ? known()?.title : undefined}
              onSend={start}
              onStop={() => {}}
            />
          )}
        </Show>
      </div>
    </main>
  );
}
