import { createMemo, createResource, createSignal, For, Match, onMount, Show, Switch } from "solid-js";
import { api, sentence } from "../api/client";
import type { Agent, AgentsOwn } from "../api/types";
import { InlineError } from "./InlineError";
import { Spinner } from "./Spinner";
import { ago } from "./time";
import { Visible } from "./Visible";

interface ContinueDialogProps {
  agents: Agent[];
  /** Makes a session that goes on with it. */
  onContinue(agent: string, found: AgentsOwn): Promise<void>;
  /** The session that it goes on in already. */
  onOpen(sessionId: string): void;
  onClose(): void;
}

/** The sessions that an agent keeps by itself, to be continued here. */
export function ContinueDialog(props: ContinueDialogProps) {
  const installed = createMemo(() => props.agents.filter((agent) => agent.installed));
  const [agent, setAgent] = createSignal(installed()[0]?.id);
  const [found, { refetch }] = createResource(agent, (id) => api.agentsOwn(id).then(({ sessions }) => sessions));
  const [taking, setTaking] = createSignal<string | null>(null);
  const [error, setError] = createSignal<string | null>(null);
  let dialog: HTMLDialogElement | undefined;
  onMount(() => dialog?.showModal());

  const choose = async (own: AgentsOwn) => {
    setError(null);
    if (own.session_id != null) {
      dialog?.close();
      props.onOpen(own.session_id);
      return;
    }
    const id = agent();
    if (id === undefined) return;
    setTaking(own.agent_session_id);
    try {
      await props.onContinue(id, own);
      dialog?.close();
    } catch (reason) {
      setError(sentence(reason));
    } finally {
      setTaking(null);
    }
  };

  return (
    <dialog
      ref={dialog}
      class="dialog continue-dialog"
      aria-labelledby="continue-title"
      onClose={() => props.onClose()}
    >
      <h2 id="continue-title">Continue an agent’s session</h2>
      <p>What an agent has worked on outside of VoxPilot, in this work folder. It goes on here where it was.</p>
      <Show when={installed().length > 1}>
        <label class="continue-agent">
          <span>Agent</span>
          <select onChange={(event) => setAgent(event.currentTarget.value)}>
            <For each={installed()}>
              {(known) => (
                <option value={known.id} selected={known.id === agent()}>
                  {known.title}
                </option>
              )}
            </For>
          </select>
        </label>
      </Show>
      <div class="continue-list" aria-busy={found.loading} aria-live="polite">
        <Switch>
          <Match when={found.loading}>
            <p class="log-hint">
              <Spinner /> Asking the agent…
            </p>
          </Match>
          <Match when={found.error}>
            {(reason) => (
              <div role="alert">
                <p class="inline-error">{sentence(reason())}</p>
                <button type="button" class="button small" onClick={() => void refetch()}>
                  Try again
                </button>
              </div>
            )}
          </Match>
          <Match when={(found()?.length ?? 0) === 0}>
            <p>There are none: the agent has no session in this work folder.</p>
          </Match>
          <Match when={found()}>
            {(sessions) => (
              <ul aria-label="Sessions of the agent">
                <For each={sessions()}>
                  {(own) => (
                    <li>
                      <button
                        type="button"
                        class="continue-item"
                        disabled={taking() !== null}
                        onClick={() => void choose(own)}
                      >
                        <span class="continue-name">
                          <Visible text={own.title || "Untitled"} />
                        </span>
                        <span class="continue-about">
                          {[own.updated_at ? ago(own.updated_at) : "", own.work_dir].filter(Boolean).join(" · ")}
                        </span>
                        <Show when={own.session_id != null}>
                          <span class="badge">goes on here already: open it</span>
                        </Show>
                        <Show when={taking() === own.agent_session_id}>
                          <Spinner label="loading" />
                        </Show>
                      </button>
                    </li>
                  )}
                </For>
              </ul>
            )}
          </Match>
        </Switch>
      </div>
      <InlineError message={error()} />
      <div class="dialog-actions">
        <button type="button" class="button" onClick={() => dialog?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
