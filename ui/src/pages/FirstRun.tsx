import { For, type JSX, Show } from "solid-js";
import type { Agent } from "../api/types";
import { Button } from "../kit/Button";
import { Icon } from "../kit/Icon";
import { Visible } from "../kit/Visible";
import { standing, unusable } from "../state/agents";
import { watchesOnly } from "../state/device";
import { pageHref } from "../state/route";

interface FirstRunProps {
  project: { name: string; branch?: string | null } | undefined;
  /** The one that works where nobody chooses. */
  agent: Agent | undefined;
  /** Of new sessions; `relay` is none. */
  model: string | undefined;
  /** How many devices are let in; unknown at first. */
  devices: number | undefined;
  /** What somebody may begin with. */
  task: string | undefined;
  onPhone(): void;
  onTask(task: string): void;
}

interface Step {
  done: boolean;
  title: JSX.Element;
  note?: string | undefined;
  action?: JSX.Element;
}

/** What there is, and what is left to do, for somebody who is here for the first time. Nothing of it has to be done. */
export function FirstRun(props: FirstRunProps) {
  const ready = () => props.agent !== undefined && unusable(props.agent) === null && !needsLogin();
  const needsLogin = () => props.agent?.health === "login_required" || props.agent?.logged_in === false;
  const hasMainAi = () => props.model !== undefined && props.model !== "relay";
  const hasOther = () => (props.devices ?? 1) > 1;
  const steps = (): Step[] => [
    {
      done: true,
      title: (
        <>
          <b>The server runs</b>
          <Show when={props.project}>
            {(project) => (
              <>
                {" "}
                in <Visible text={project().name} />
                <Show when={project().branch}>
                  {(branch) => (
                    <>
                      , branch <Visible text={branch()} />
                    </>
                  )}
                </Show>
              </>
            )}
          </Show>
        </>
      ),
    },
    {
      done: ready(),
      title: (
        <b>
          <Show when={props.agent} fallback="Set up an agent">
            {(agent) => (
              <>
                <Visible text={agent().title} /> {ready() ? "is ready" : `· ${standing(agent()).words.toLowerCase()}`}
              </>
            )}
          </Show>
        </b>
      ),
      note: ready() ? (props.agent?.version ?? undefined) : "It does the work.",
      action: (
        <a class="button small" href={pageHref("agents")}>
          {ready() ? "Agents" : "Set up"}
        </a>
      ),
    },
    {
      done: hasMainAi(),
      title: <b>{hasMainAi() ? "A main AI is chosen" : "Choose a main AI"}</b>,
      note: hasMainAi()
        ? props.model
        : `Without one you talk straight to ${props.agent?.title ?? "the agent"}. That works too.`,
      action: (
        <a class="button small" href="#/settings">
          Choose
        </a>
      ),
    },
    {
      done: hasOther(),
      title: <b>{hasOther() ? "Another device is let in" : "Add your phone"}</b>,
      note: "Answer questions from anywhere on your network.",
      action: (
        <Button small disabled={watchesOnly()} onClick={() => props.onPhone()}>
          Show code
        </Button>
      ),
    },
  ];
  return (
    <ul class="first-run card" aria-label="First steps">
      <For each={steps()}>
        {(step) => (
          <li>
            <span class="first-run-tick" classList={{ done: step.done }}>
              <Show when={step.done} fallback={<span class="visually-hidden">To do</span>}>
                <Icon name="check" size="tiny" />
                <span class="visually-hidden">Done</span>
              </Show>
            </span>
            <span class="grow">
              {step.title}
              <Show when={step.note}>
                <small>{step.note}</small>
              </Show>
            </span>
            <Show when={!step.done}>{step.action}</Show>
          </li>
        )}
      </For>
      <Show when={props.task}>
        {(task) => (
          <li>
            <span class="first-run-tick">
              <span class="visually-hidden">To do</span>
            </span>
            <span class="grow">
              <b>Give it a first task</b>
              <small>
                “<Visible text={task()} />”
              </small>
            </span>
            <Button kind="main" small disabled={watchesOnly()} onClick={() => props.onTask(task())}>
              Start
            </Button>
          </li>
        )}
      </Show>
    </ul>
  );
}
