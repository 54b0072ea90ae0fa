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
import { createSubmit } from "./submit";
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
  const isBusy = () => props.agent.health === "installing";
  const allowNpx = (allowed: boolean) =>
    sending.submit(async () => props.onChanged(await api.allowNpx(props.agent.id, allowed)));
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
            <p class={isBusy() ? "agent-item-advice" : "agent-item-problem"}>
              <Prose text={problem()} />
            </p>
          )}
        </Show>
        <Switch>
          <Match when={!props.agent.installed && props.agent.install}>
            {(install) => (
              <Install name={name()} install={install()} disabled={disabled()} onAllow={() => void allowNpx(true)} />
            )}
          </Match>
          <Match when={isBusy()}>
            <p class="agent-item-advice">npx downloads its package for its first start. That can take some minutes.</p>
          </Match>
          <Match when={props.agent.installed && needsLogin()}>
            <p class="agent-item-advice">
              <Show when={props.agent.can_login}>
                “Log in” runs its login on the server’s machine and shows what it says.{" "}
              </Show>
              <Show when={props.agent.login}>
                {(login) => (
                  <>
                    <span>
                      {props.agent.can_login ? "Or run it there yourself:" : "Log in on the server’s machine:"}
                    </span>{" "}
                    <CopyCommand command={login().command} />
                  </>
                )}
              </Show>
            </p>
          </Match>
          <Match when={props.agent.found === "npx"}>
            <button
              type="button"
              class="button small"
              aria-label={`No longer use ${name()} through npx`}
              disabled={disabled()}
              title={why()}
              onClick={() => void allowNpx(false)}
            >
              No longer through npx
            </button>
          </Match>
        </Switch>
        <InlineError message={sending.error()} />
        <Show when={props.withAbilities}>
          <AbilityList agent={props.agent} />
        </Show>
      </div>
      <div class="agent-item-actions">
        <Show when={props.agent.installed && props.agent.can_login && props.agent.logged_in !== true}>
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
  /** The agent's title. */
  name: string;
  install: { command: string; npx: boolean };
  disabled: boolean;
  onAllow(): void;
}

/** How to get it. That something is downloaded and run is asked for in so many words. */
function Install(props: InstallProps) {
  const [asked, setAsked] = createSignal(false);
  return (
    <>
      <Show when={props.install.command}>
        {(command) => (
          <p class="agent-item-advice">
            <span>Install it on the server’s machine:</span> <CopyCommand command={command()} />
          </p>
        )}
      </Show>
      <Show when={props.install.npx}>
        <Show
          when={asked()}
          fallback={
            <button
              type="button"
              class="button small"
              aria-label={`Use ${props.name} through npx`}
              disabled={props.disabled}
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
              disabled={props.disabled}
              ref={(element) => queueMicrotask(() => element.focus())}
              onClick={() => props.onAllow()}
            >
              Download and use it
            </button>
            <button type="button" class="button small" disabled={props.disabled} onClick={() => setAsked(false)}>
              Not now
            </button>
          </fieldset>
        </Show>
      </Show>
    </>
  );
}
