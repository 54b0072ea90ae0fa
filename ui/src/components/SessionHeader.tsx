import { createSignal, Show } from "solid-js";
import type { Agent, Session, SessionChange } from "../api/types";
import { titleOf } from "../state/agents";
import { watch_only, watchesOnly } from "../state/device";
import { policyOf, type ServerState } from "../state/server";
import { Icon } from "./Icon";
import { InlineEdit } from "./InlineEdit";
import { InlineError } from "./InlineError";
import { SessionSettings } from "./SessionSettings";
import { createSubmit } from "./submit";
import { Visible } from "./Visible";

interface SessionHeaderProps {
  session: Session | undefined;
  agents: Agent[];
  /** Nothing was said yet: the agent is chosen where the first message is written. */
  isFresh: boolean;
  server: ServerState;
  onMenu(): void;
  onInspect(): void;
  onChange(change: SessionChange): Promise<void>;
}

export function SessionHeader(props: SessionHeaderProps) {
  const [renaming, setRenaming] = createSignal(false);
  const [showSettings, setShowSettings] = createSignal(false);
  const { error, submit } = createSubmit();
  const change = async (fields: SessionChange) => {
    await submit(() => props.onChange(fields));
  };
  return (
    <header class="session-header">
      <div class="header-row">
        <button type="button" class="icon-button menu-button" aria-label="Show sessions" onClick={() => props.onMenu()}>
          <Icon name="menu" />
        </button>
        <Show when={props.session}>
          {(session) => (
            <>
              <Show
                when={!renaming()}
                fallback={
                  <InlineEdit
                    label="Session title"
                    value={session().title}
                    onSave={(title) => {
                      setRenaming(false);
                      void change({ title });
                    }}
                    onCancel={() => setRenaming(false)}
                  />
                }
              >
                <h1 class="header-title">
                  <button
                    type="button"
                    title={watchesOnly() ? watch_only : "Rename"}
                    disabled={watchesOnly()}
                    onClick={() => setRenaming(true)}
                  >
                    <Visible text={session().title || "Untitled"} />
                  </button>
                  <Show when={!props.isFresh}>
                    <span class="header-agent">
                      <Visible text={titleOf(props.agents, session().agent)} />
                    </span>
                  </Show>
                </h1>
              </Show>
              <Show when={policyOf(session(), props.server.info()) === "auto"}>
                <button
                  type="button"
                  class="auto-pill"
                  disabled={watchesOnly()}
                  title={
                    watchesOnly()
                      ? watch_only
                      : "Every command and change is approved automatically. Press to be asked first."
                  }
                  onClick={() => void change({ permission_policy: "ask" })}
                >
                  <Icon name="bolt" />
                  <span>Approves automatically</span>
                  <span class="auto-pill-action">Ask me first</span>
                </button>
              </Show>
              <button
                type="button"
                class="icon-button"
                aria-label="Agent traffic"
                title={watchesOnly() ? watch_only : "Agent traffic"}
                disabled={watchesOnly()}
                onClick={() => props.onInspect()}
              >
                <Icon name="traffic" />
              </button>
              <button
                type="button"
                class="icon-button settings-button"
                aria-label="Session settings"
                aria-expanded={showSettings()}
                onClick={() => setShowSettings(!showSettings())}
              >
                <Icon name="settings" />
              </button>
              <SessionSettings
                session={session()}
                agents={props.agents}
                isFresh={props.isFresh}
                open={showSettings()}
                onChange={change}
              />
            </>
          )}
        </Show>
      </div>
      <InlineError message={error()} />
    </header>
  );
}
