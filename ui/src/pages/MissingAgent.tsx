import { createSignal, Match, Show, Switch } from "solid-js";
import { pagesApi } from "../api/pages";
import type { Agent } from "../api/types";
import { Button } from "../kit/Button";
import { later } from "../kit/later";
import { AgentMark } from "../kit/small";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import { isBusy } from "../state/agents";
import { watch_only, watchesOnly } from "../state/device";
import { visible } from "../state/visible";
import { showRow } from "./AgentItem";

const InstallDialog = later(async () => (await import("./InstallDialog")).InstallDialog);

interface MissingAgentProps {
  agent: Agent;
  /** Somebody came for this one: it is shown and has the focus. */
  isWanted: boolean;
  onChanged(agent: Agent): void;
}

/** One that could be here: a line, and the one thing that brings it. */
export function MissingAgent(props: MissingAgentProps) {
  const sending = createSubmit();
  const [asks, setAsks] = createSignal(false);
  const name = () => visible(props.agent.title);
  const how = () => props.agent.install;
  const problem = () => {
    const said = sending.error() ?? props.agent.chore?.problem;
    return said ? `Not installed: ${visible(said)}` : "";
  };
  const stop = () => sending.submit(async () => props.onChanged(await pagesApi.stopChore(props.agent.id)));
  const step = () => ["Installing", visible(props.agent.chore?.step ?? "")].filter(Boolean).join(" · ");
  const word = () => (problem() ? "Try again" : how()?.command ? "Install" : "Run with npx");
  return (
    <li class="agent-more-row" tabindex="-1" ref={(row) => props.isWanted && showRow(row)}>
      <AgentMark agent={props.agent.title} />
      <h3>
        <Visible text={props.agent.title} />
      </h3>
      <Switch fallback={<span class="grow">{visible(props.agent.about)}</span>}>
        <Match when={isBusy(props.agent)}>
          <span class="grow" role="status">
            {step()}
          </span>
        </Match>
        <Match when={problem()}>
          <span class="grow inline-error" role="alert">
            {problem()}
          </span>
        </Match>
      </Switch>
      <Show
        when={!isBusy(props.agent)}
        fallback={
          <Button small kind="quiet" aria-label={`Stop installing ${name()}`} onClick={() => void stop()}>
            Stop
          </Button>
        }
      >
        <Show when={how()}>
          <Button
            small
            aria-label={`${word()}: ${name()}`}
            disabled={watchesOnly() || sending.busy()}
            title={watchesOnly() ? watch_only : undefined}
            onClick={() => setAsks(true)}
          >
            {word()}
          </Button>
        </Show>
      </Show>
      <Show when={asks() && how()}>
        {(install) => (
          <InstallDialog
            agent={props.agent}
            install={install()}
            onChanged={(changed) => props.onChanged(changed)}
            onClose={() => setAsks(false)}
          />
        )}
      </Show>
    </li>
  );
}
