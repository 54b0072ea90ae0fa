import { createSignal, Match, Show, Switch } from "solid-js";
import { api } from "../api/client";
import type { Agent } from "../api/types";
import { foundText, standing, unusable } from "../state/agents";
import { watch_only, watchesOnly } from "../state/device";
import { visible } from "../state/visible";
import { AbilityList } from "./AbilityTable";
import { CopyCommand } from "./CopyCommand";
import { InlineError } from "./InlineError";
import { LoginDialog } from "./LoginDialog";
import { Prose } from "./Prose";
import { Spinner } from "./Spinner";
import { createSubmit, type Submit } from "./submit";
import { Visible } from "./Visible";

interface AgentItemProps {
  agent: Agent;
  isDefault: boolean;
  withAbilities: boolean;
  onStart(): Promise<void>;
  /** It is another than it was: as the server says, or to be asked for. */
  onChanged(agent?: Agent): void;
}

/** One agent, and what somebody can do about it. */
export function AgentItem(props: AgentItemProps) {
  const sending = createSubmit();
  const [loggingIn, setLoggingIn] = createSignal(false);
  const name = () => visible(props.agent.title);
  const state = () => standing(props.agent);
  const meta = () => [props.agent.version ?? "", foundText(props.agent)].filter(Boolean).join(" · ");
  const needsLogin = () => props.agent.health === "login_required" || props.agent.logged_in === false;
  const disabled = () => sending.busy() || watchesOnly();
  const why = () => (watchesOnly() ? watch_only : undefined);
  return (
    <li class="agent-item">
      <div class="agent-item-about">
        <h2>
          <Visible text={props.agent.title} />
          <Show when={props.isDefault}>
            {" "}
            <span class="badge">default</span>
          </Show>
        </h2>
        <Show when={props.agent.about}>
          {(about) => (
            <p class="agent-item-good-at">
              <Visible text={about()} />
            </p>
          )}
        </Show>
        <Show when={meta()}>
          <p class="agent-item-meta">
            <Visible text={meta()} />
          </p>
        </Show>
      </div>
      <p class={`agent-item-state ${state().tone}`}>
        <Show when={state().tone === "busy"} fallback={<span class="state-dot" aria-hidden="true" />}>
          <Spinner />
        </Show>{" "}
        {state().words}
      </p>
      <div class="agent-item-more">
        <Show when={props.agent.problem}>
          {(problem) => (
            <p class="agent-item-problem">
              <Prose text={problem()} />
            </p>
          )}
        </Show>
        <Switch>
          <Match when={!props.agent.installed && props.agent.install}>
            {(install) => (
              <Install agent={props.agent} install={install()} sending={sending} onChanged={props.onChanged} />
            )}
          </Match>
          <Match when={props.agent.installed && needsLogin() && props.agent.login}>
            {(login) => (
              <p class="agent-item-advice">
                It is not logged in. “Log in” runs <code>{login().command}</code> on the server’s machine and shows what
                it says.
              </p>
            )}
          </Match>
          <Match when={props.agent.health === "installing"}>
            <p class="agent-item-advice">npx downloads its package for its first start. That can take some minutes.</p>
          </Match>
        </Switch>
        <InlineError message={sending.error()} />
        <Show when={props.withAbilities}>
          <AbilityList agent={props.agent} />
        </Show>
      </div>
      <div class="agent-item-actions">
        <Show when={props.agent.installed && props.agent.login && props.agent.logged_in !== true}>
          <button
            type="button"
            class="button"
            classList={{ primary: needsLogin() }}
            aria-label={`Log in to ${name()}`}
            disabled={disabled()}
            title={why()}
            onClick={() => setLoggingIn(true)}
          >
            Log in
          </button>
        </Show>
        <Show when={unusable(props.agent) === null}>
          <button
            type="button"
            class="button"
            aria-label={`New session with ${name()}`}
            disabled={disabled()}
            title={why()}
            onClick={() => void sending.submit(props.onStart)}
          >
            New session
          </button>
        </Show>
      </div>
      <Show when={loggingIn()}>
        <LoginDialog
          agent={props.agent}
          finished="Logged in."
          onFinished={() => props.onChanged()}
          onClose={() => {
            setLoggingIn(false);
            props.onChanged();
          }}
        />
      </Show>
    </li>
  );
}

interface InstallProps {
  agent: Agent;
  install: { command: string; npx: boolean };
  sending: Submit;
  onChanged(agent: Agent): void;
}

/** How to get it. That something is downloaded and run is asked for in so many words. */
function Install(props: InstallProps) {
  const [asked, setAsked] = createSignal(false);
  const disabled = () => props.sending.busy() || watchesOnly();
  return (
    <>
      <p class="agent-item-advice">
        <span>Install it on the server’s machine:</span> <CopyCommand command={props.install.command} />
      </p>
      <Show when={props.install.npx}>
        <Show
          when={asked()}
          fallback={
            <button
              type="button"
              class="button small"
              aria-label={`Use ${visible(props.agent.title)} through npx`}
              disabled={disabled()}
              title={watchesOnly() ? watch_only : undefined}
              onClick={() => setAsked(true)}
            >
              Use it through npx
            </button>
          }
        >
          <fieldset class="npx-sure">
            <legend>
              Let npx download this agent’s package from npm and run it on the server’s machine? It happens whenever the
              agent is started, for the first time with your next message to it.
            </legend>
            <button
              type="button"
              class="button small primary"
              disabled={disabled()}
              ref={(element) => queueMicrotask(() => element.focus())}
              onClick={() => void props.sending.submit(async () => props.onChanged(await api.allowNpx(props.agent.id)))}
            >
              Download and use it
            </button>
            <button type="button" class="button small" disabled={disabled()} onClick={() => setAsked(false)}>
              Not now
            </button>
          </fieldset>
        </Show>
      </Show>
    </>
  );
}
