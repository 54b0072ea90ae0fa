import { createSignal, onCleanup, Show } from "solid-js";
import { pagesApi } from "../api/pages";
import type { Agent } from "../api/types";
import { Button, IconButton } from "../kit/Button";
import { CopyCommand } from "../kit/CopyCommand";
import { duration } from "../kit/duration";
import { InlineError } from "../kit/InlineError";
import { Menu } from "../kit/Menu";
import { MenuItem } from "../kit/MenuList";
import { AgentMark, Dot, type Status, Tag } from "../kit/small";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import { foundText, isBusy, type Standing, sandboxText, standing, unusable } from "../state/agents";
import { watch_only, watchesOnly } from "../state/device";
import { visible } from "../state/visible";
import { LoginDialog } from "../talk/LoginDialog";
import { Prose } from "../talk/Prose";
import { Capabilities } from "./Capabilities";

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
  isWanted: boolean;
  onStart(): Promise<void>;
  /** It is another than it was: as the server says, or to be asked for. */
  onChanged(agent?: Agent): void;
}

/** One that is here: how it stands, and the one thing that mends or uses it. */
export function AgentItem(props: AgentItemProps) {
  const sending = createSubmit();
  const [loggingIn, setLoggingIn] = createSignal(false);
  const name = () => visible(props.agent.title);
  const state = () => standing(props.agent);
  const meta = () =>
    [props.agent.version ?? "", props.agent.logged_in === true ? "signed in" : "", foundText(props.agent)]
      .filter(Boolean)
      .join(" · ");
  const needsLogin = () => props.agent.health === "login_required" || props.agent.logged_in === false;
  const canSignIn = () => props.agent.can_login && props.agent.logged_in !== true;
  const disabled = () => sending.busy() || watchesOnly();
  const why = () => (watchesOnly() ? watch_only : undefined);
  const change = (call: () => Promise<Agent>) => void sending.submit(async () => props.onChanged(await call()));
  const start = () => void sending.submit(props.onStart);
  const test = () => change(() => pagesApi.testAgent(props.agent.id));
  return (
    <li class="agent-row" tabindex="-1" ref={(row) => props.isWanted && showRow(row)}>
      <AgentMark agent={props.agent.title} />
      <div>
        <h3>
          <Visible text={props.agent.title} />
          <Show when={props.isDefault}>
            {" "}
            <Tag>default</Tag>
          </Show>
        </h3>
        <p class="agent-row-meta">
          <Visible text={meta()} />
        </p>
      </div>
      <p class="agent-row-state">
        <Dot status={dots[state().tone]} quiet /> {state().words}
      </p>
      <div class="agent-row-actions">
        <Show
          when={needsLogin() && canSignIn()}
          fallback={
            <Show when={unusable(props.agent) === null}>
              <Button
                small
                class="in-menu"
                aria-label={`New session with ${name()}`}
                disabled={disabled()}
                title={why()}
                onClick={start}
              >
                New session
              </Button>
            </Show>
          }
        >
          <Button
            small
            kind="main"
            aria-label={`Sign in to ${name()}`}
            disabled={disabled()}
            title={why()}
            onClick={() => setLoggingIn(true)}
          >
            Sign in
          </Button>
        </Show>
        <Menu
          label={`More of ${name()}`}
          align="end"
          button={(button) => <IconButton icon="dots" label={`More of ${name()}`} {...button} />}
        >
          {(close) => {
            const item = (words: string, run: () => void, note?: string) => (
              <MenuItem
                note={note}
                disabled={disabled()}
                onChoose={() => {
                  close();
                  run();
                }}
              >
                {words}
              </MenuItem>
            );
            return (
              <>
                <Show when={unusable(props.agent) === null}>{item("New session", start)}</Show>
                <Show when={canSignIn()}>{item("Sign in", () => setLoggingIn(true))}</Show>
                <Show when={props.agent.can_logout && props.agent.logged_in !== false}>
                  {item(
                    "Sign out",
                    () => change(() => pagesApi.signOut(props.agent.id)),
                    "Of this agent, on the server",
                  )}
                </Show>
                <Show when={props.agent.found === "npx"}>
                  {item("Stop using npx", () => change(() => pagesApi.allowNpx(props.agent.id, false)))}
                </Show>
              </>
            );
          }}
        </Menu>
      </div>
      <div class="agent-row-more">
        <Show
          when={props.agent.health === "failing" || props.agent.health === "installing" ? props.agent.problem : null}
        >
          {(problem) => (
            <p class={props.agent.health === "failing" ? "inline-error" : "soft"}>
              <Prose text={problem()} />
            </p>
          )}
        </Show>
        <Show when={needsLogin() && props.agent.login}>
          {(login) => (
            <p class="soft">
              {canSignIn() ? "Or run it on the server’s machine yourself:" : "Sign in on the server’s machine:"}{" "}
              <CopyCommand command={login().command} />
            </p>
          )}
        </Show>
        <Show when={sandboxText(props.agent)}>{(text) => <p class="soft">{text()}</p>}</Show>
        <InlineError message={sending.error()} />
        <Show
          when={!isTested(props.agent)}
          fallback={<Testing agent={props.agent} onStop={() => change(() => pagesApi.stopChore(props.agent.id))} />}
        >
          <Show when={props.agent.chore?.problem}>
            {(problem) => (
              <p class="inline-error" role="alert">
                The test did not finish: <Visible text={problem()} />
              </p>
            )}
          </Show>
          <Capabilities agent={props.agent} disabled={disabled()} title={why()} onTest={test} />
        </Show>
      </div>
      <Show when={loggingIn()}>
        <LoginDialog
          agent={props.agent}
          finished="Signed in."
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

export function showRow(row: HTMLElement): void {
  requestAnimationFrame(() => {
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
  });
}

const isTested = (agent: Agent) => agent.chore?.kind === "test" && isBusy(agent);

/** How far a test is, with a way out. */
function Testing(props: { agent: Agent; onStop(): void }) {
  const [now, setNow] = createSignal(Date.now());
  const timer = setInterval(() => setNow(Date.now()), 1_000);
  onCleanup(() => clearInterval(timer));
  const chore = () => props.agent.chore;
  const since = () => duration(now() - Date.parse(chore()?.since ?? ""));
  const part = () => (100 * (chore()?.done ?? 0)) / Math.max(1, chore()?.of ?? 1);
  return (
    <div class="chore">
      <Dot status="running" quiet />
      <div class="chore-step">
        <p>
          <span role="status">Testing: {chore()?.step || "starts"}</span>
          <span class="soft num">
            {" "}
            <Show when={chore()?.of}>
              {Math.min((chore()?.done ?? 0) + 1, chore()?.of ?? 0)} of {chore()?.of} ·{" "}
            </Show>
            {since()}
          </span>
        </p>
        <div class="progress" aria-hidden="true">
          <i style={{ width: `${part()}%` }} />
        </div>
      </div>
      <Button
        small
        kind="quiet"
        aria-label={`Stop testing ${visible(props.agent.title)}`}
        onClick={() => props.onStop()}
      >
        Stop
      </Button>
    </div>
  );
}
