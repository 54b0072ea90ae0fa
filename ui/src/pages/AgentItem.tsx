import { createSignal, For, Match, Show, Switch } from "solid-js";
import { pagesApi } from "../api/pages";
import type { Agent } from "../api/types";
import { Button } from "../kit/Button";
import { CopyCommand } from "../kit/CopyCommand";
import { InlineError } from "../kit/InlineError";
import { AgentMark, Dot, type Status, Tag } from "../kit/small";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import { afterRestart, foundText, type Standing, sandboxText, standing, strengths, unusable } from "../state/agents";
import { watch_only, watchesOnly } from "../state/device";
import { visible } from "../state/visible";
import { LoginDialog } from "../talk/LoginDialog";
import { Prose } from "../talk/Prose";
import { AbilityList } from "./AbilityTable";

const dots: Record<Standing["tone"], Status> = {
  good: "done",
  waiting: "waiting",
  bad: "failed",
  busy: "running",
  none: "unknown",
};

interface AgentItemProps {
  agent: Agent;
  isDefault: boolean;
  /** Somebody came for this one: it is shown and has the focus. */
  isWanted?: boolean;
  withAbilities: boolean;
  onStart(): Promise<void>;
  /** It is another than it was: as the server says, or to be asked for. */
  onChanged(agent?: Agent): void;
}

/** One agent, and what somebody can do about it. */
export function AgentItem(props: AgentItemProps) {
  const sending = createSubmit();
  const [loggingIn, setLoggingIn] = createSignal(false);
  const [askedNpx, setAskedNpx] = createSignal(false);
  const name = () => visible(props.agent.title);
  const state = () => standing(props.agent);
  const meta = () => [props.agent.version ?? "", foundText(props.agent)].filter(Boolean).join(" · ");
  const needsLogin = () => props.agent.health === "login_required" || props.agent.logged_in === false;
  const isBusy = () => props.agent.health === "installing";
  const install = () => (props.agent.installed ? null : props.agent.install);
  const allowNpx = (allowed: boolean) =>
    sending.submit(async () => {
      props.onChanged(await pagesApi.allowNpx(props.agent.id, allowed));
      setAskedNpx(false);
    });
  const disabled = () => sending.busy() || watchesOnly();
  const why = () => (watchesOnly() ? watch_only : undefined);
  return (
    <li class="agent-row" tabindex="-1" ref={(row) => props.isWanted && showRow(row)}>
      <AgentMark agent={props.agent.title} />
      <div class="agent-row-name">
        <h2>
          <Visible text={props.agent.title} />
          <Show when={props.isDefault}>
            {" "}
            <Tag>default</Tag>
          </Show>
        </h2>
        <Show when={meta()}>
          <p class="agent-row-meta">
            <Visible text={meta()} />
          </p>
        </Show>
      </div>
      <p class="agent-row-state">
        <Dot status={dots[state().tone]} quiet /> {state().words}
      </p>
      <p class="agent-row-can">
        <For each={strengths(props.agent)}>{(word) => <Tag>{word}</Tag>}</For>
      </p>
      <p class="agent-row-restart" classList={{ unknown: !afterRestart(props.agent) }}>
        <span class="visually-hidden">After a restart: </span>
        {afterRestart(props.agent) || "Not known yet"}
      </p>
      <div class="agent-row-actions">
        <Show when={props.agent.installed && props.agent.can_login && props.agent.logged_in !== true}>
          <Button
            kind={needsLogin() ? "main" : undefined}
            aria-label={`Sign in to ${name()}`}
            disabled={disabled()}
            title={why()}
            onClick={() => setLoggingIn(true)}
          >
            Sign in
          </Button>
        </Show>
        <Show when={unusable(props.agent) === null}>
          <Button
            kind={needsLogin() ? "quiet" : undefined}
            aria-label={`New session with ${name()}`}
            disabled={disabled()}
            title={why()}
            onClick={() => void sending.submit(props.onStart)}
          >
            New session
          </Button>
        </Show>
        <Show when={install()?.npx && !askedNpx()}>
          <Button
            aria-label={`Use ${name()} through npx`}
            disabled={disabled()}
            title={why()}
            onClick={() => setAskedNpx(true)}
          >
            Use it through npx
          </Button>
        </Show>
      </div>
      <div class="agent-row-more">
        <Show when={props.agent.about}>
          {(about) => (
            <p class="agent-row-about soft">
              <Prose text={about()} />
            </p>
          )}
        </Show>
        <Show when={sandboxText(props.agent)}>{(text) => <p class="soft">{text()}</p>}</Show>
        <Show when={props.agent.problem}>
          {(problem) => (
            <p class={isBusy() ? "soft" : "inline-error"}>
              <Prose text={problem()} />
            </p>
          )}
        </Show>
        <Switch>
          <Match when={install()}>
            {(how) => (
              <>
                <Show when={how().command}>
                  {(command) => (
                    <p class="soft">
                      <span>Install it on the server’s machine:</span> <CopyCommand command={command()} />
                    </p>
                  )}
                </Show>
                <Show when={how().npx && askedNpx()}>
                  <NpxSure
                    disabled={disabled()}
                    onAllow={() => void allowNpx(true)}
                    onCancel={() => setAskedNpx(false)}
                  />
                </Show>
              </>
            )}
          </Match>
          <Match when={isBusy()}>
            <p class="soft">npx downloads its package for its first start. That can take some minutes.</p>
          </Match>
          <Match when={props.agent.installed && needsLogin()}>
            <p class="soft">
              <Show when={props.agent.can_login}>
                “Sign in” runs its login on the server’s machine and shows what it says.{" "}
              </Show>
              <Show when={props.agent.login}>
                {(login) => (
                  <>
                    <span>
                      {props.agent.can_login ? "Or run it there yourself:" : "Sign in on the server’s machine:"}
                    </span>{" "}
                    <CopyCommand command={login().command} />
                  </>
                )}
              </Show>
            </p>
          </Match>
          <Match when={props.agent.found === "npx"}>
            <Button
              small
              aria-label={`No longer use ${name()} through npx`}
              disabled={disabled()}
              title={why()}
              onClick={() => void allowNpx(false)}
            >
              No longer through npx
            </Button>
          </Match>
        </Switch>
        <InlineError message={sending.error()} />
        <Show when={props.withAbilities}>
          <AbilityList agent={props.agent} />
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

function showRow(row: HTMLElement): void {
  requestAnimationFrame(() => {
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
  });
}

interface NpxSureProps {
  disabled: boolean;
  onAllow(): void;
  onCancel(): void;
}

/** That something is downloaded and run is asked for in so many words. */
function NpxSure(props: NpxSureProps) {
  return (
    <fieldset class="npx-sure">
      <legend>
        Let npx download this agent’s package from npm and run it on the server’s machine? It happens whenever the agent
        is started, for the first time with your next message to it.
      </legend>
      <Button
        kind="main"
        small
        disabled={props.disabled}
        ref={(element) => queueMicrotask(() => element.focus())}
        onClick={() => props.onAllow()}
      >
        Download and use it
      </Button>
      <Button small disabled={props.disabled} onClick={() => props.onCancel()}>
        Not now
      </Button>
    </fieldset>
  );
}
