import { createSignal, For, type JSX, Show } from "solid-js";
import type { Agent } from "../api/types";
import { Button } from "../kit/Button";
import { Icon } from "../kit/Icon";
import { later } from "../kit/later";
import { Visible } from "../kit/Visible";
import { isReady, standing } from "../state/agents";
import { watchesOnly } from "../state/device";
import { agentHref, pageHref, settingsHref } from "../state/route";

const FirstPhone = later(async () => (await import("./phone/FirstPhone")).FirstPhone);

/** A task that can be started as it is. */
export interface FirstTask {
  text: string;
  /** The agent that does it, where it is not the one that works by default. */
  with?: string;
  start(): void;
}

interface FirstRunProps {
  /** The one that works where nobody chooses. */
  agent: Agent | undefined;
  /** Of new sessions; `relay` is none. */
  model: string | undefined;
  /** How many devices are signed in; unknown at first. */
  devices: number | undefined;
  task: FirstTask | undefined;
  /** Another device was signed in. */
  onAdded(): void;
}

interface Step {
  done: boolean;
  title: JSX.Element;
  note?: JSX.Element;
  action?: JSX.Element;
  /** Beneath it, while it is done. */
  open?: JSX.Element;
}

/** What there is and what is left to do on the first visit. Every step is optional. */
export function FirstRun(props: FirstRunProps) {
  const [isAdding, setAdding] = createSignal(false);
  const hasOther = () => (props.devices ?? 1) > 1;
  const phone: Step = {
    get done() {
      return hasOther();
    },
    get title() {
      return hasOther() ? "Another device is signed in" : "Add your phone";
    },
    note: "Answer questions when you’re away from the desk.",
    action: (
      <Button
        small
        kind={isAdding() ? "quiet" : undefined}
        aria-label={isAdding() ? "Close: Add your phone" : "Add your phone"}
        aria-expanded={isAdding()}
        disabled={watchesOnly()}
        onClick={() => setAdding(!isAdding())}
      >
        {isAdding() ? "Close" : "Add…"}
      </Button>
    ),
    open: (
      <Show when={isAdding()}>
        <FirstPhone onAdded={() => props.onAdded()} onClose={() => setAdding(false)} />
      </Show>
    ),
  };
  const steps = (): Step[] => [
    agentStep(props.agent),
    modelStep(props.model, props.agent),
    phone,
    ...(props.task ? [taskStep(props.task)] : []),
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
              <b>{step.title}</b>
              <Show when={step.note}>
                <small>{step.note}</small>
              </Show>
            </span>
            <Show when={!step.done}>{step.action}</Show>
            {step.open}
          </li>
        )}
      </For>
    </ul>
  );
}

function agentStep(agent: Agent | undefined): Step {
  const href = agent === undefined || agent.id === "demo" ? pageHref("agents") : agentHref(agent.id);
  const action = (
    <a class="button small" href={href}>
      Set up
    </a>
  );
  if (agent === undefined || agent.id === "demo") {
    const note = agent && "Only the demo agent is here. It follows a few phrases and has no model.";
    return { done: false, title: "Set up an agent", note: note ?? "It does the work.", action };
  }
  const state = () => standing(agent).words.toLowerCase();
  const title = (
    <>
      <Visible text={agent.title} />{" "}
      {isReady(agent) ? (agent.health === "ok" ? "is ready" : "is installed") : `· ${state()}`}
    </>
  );
  return isReady(agent)
    ? { done: true, title, note: agent.version && <Visible text={agent.version} /> }
    : { done: false, title, note: "It does the work.", action };
}

function modelStep(model: string | undefined, agent: Agent | undefined): Step {
  if (model !== undefined && model !== "relay") {
    return { done: true, title: "Main AI is set", note: <Visible text={model} /> };
  }
  return {
    done: false,
    title: "Add a main AI",
    note: (
      <>
        Optional. Without one you talk to <Visible text={agent?.title ?? "the agent"} /> directly.
      </>
    ),
    action: (
      <a class="button small" href={settingsHref("main-ai")} aria-label="Add a main AI">
        Add…
      </a>
    ),
  };
}

function taskStep(task: FirstTask): Step {
  return {
    done: false,
    title: "Give it a first task",
    note: (
      <>
        “<Visible text={task.text} />”
        <Show when={task.with}>
          {(name) => (
            <>
              {" "}
              with <Visible text={name()} />
            </>
          )}
        </Show>
      </>
    ),
    action: (
      <Button kind="main" small disabled={watchesOnly()} onClick={() => task.start()}>
        Start
      </Button>
    ),
  };
}
