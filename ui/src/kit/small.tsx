// The small parts: dots, marks, figures, switches.

import { createEffect, For, type JSX, Show } from "solid-js";
import { Icon, type IconName } from "./Icon";

/** How something stands; `seen` has nothing to say. */
export type Status = "running" | "waiting" | "done" | "failed" | "interrupted" | "unknown" | "seen";

const statusWords: Record<Status, string> = {
  running: "Running",
  waiting: "Needs you",
  done: "Done",
  failed: "Failed",
  interrupted: "Interrupted",
  unknown: "Outcome unknown",
  seen: "",
};

/** Where words beside it say the same it is decoration. */
export function Dot(props: { status: Status; quiet?: boolean }) {
  const label = () => (props.quiet ? "" : statusWords[props.status]);
  return (
    <Show when={label()} fallback={<span class={`dot ${props.status}`} aria-hidden="true" />}>
      {(text) => <span class={`dot ${props.status}`} role="img" aria-label={text()} />}
    </Show>
  );
}

export function PlusMinus(props: { additions: number; deletions: number }) {
  return (
    <Show when={props.additions + props.deletions > 0}>
      <span class="plus-minus num">
        <Show when={props.additions > 0}>
          <span class="plus">
            <span class="visually-hidden">added </span>+{props.additions}
          </span>
        </Show>
        <Show when={props.deletions > 0}>
          <span class="minus">
            <span class="visually-hidden">removed </span>−{props.deletions}
          </span>
        </Show>
      </span>
    </Show>
  );
}

const marks: Record<string, { class: string; path: string }> = {
  codex: { class: "codex", path: "M8 1.75l5.5 3.1v6.3L8 14.25l-5.5-3.1v-6.3zM6.25 6l2 2-2 2" },
  claude: { class: "claude", path: "M8 2v12M2.75 5l10.5 6M13.25 5l-10.5 6" },
  gemini: {
    class: "gemini",
    path: "M8 1.75c.6 3.6 2.65 5.65 6.25 6.25-3.6.6-5.65 2.65-6.25 6.25-.6-3.6-2.65-5.65-6.25-6.25 3.6-.6 5.65-2.65 6.25-6.25z",
  },
};

/** An agent's sign: hue and shape for those that are known, the robot for all others. */
export function AgentMark(props: { agent: string }) {
  const known = () => Object.entries(marks).find(([name]) => props.agent.toLowerCase().includes(name))?.[1];
  const hue = () => known()?.class ?? (props.agent.toLowerCase().includes("copilot") ? "copilot" : "");
  return (
    <span class={`agent-mark ${hue()}`} aria-hidden="true">
      <Show when={known()} fallback={<Icon name="agents" />}>
        {(mark) => (
          <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
            <path d={mark().path} />
          </svg>
        )}
      </Show>
    </span>
  );
}

interface SwitchProps {
  label: string;
  on: boolean;
  disabled?: boolean;
  onChange(on: boolean): void;
}

export function Switch(props: SwitchProps) {
  return (
    <button
      type="button"
      class="switch"
      role="switch"
      aria-label={props.label}
      aria-checked={props.on}
      disabled={props.disabled}
      onClick={() => props.onChange(!props.on)}
    />
  );
}

interface SegProps<T extends string> {
  label: string;
  choices: { value: T; text: string; icon?: IconName }[];
  value: T;
  onChange(value: T): void;
}

/** One of a few, all in sight. */
export function Seg<T extends string>(props: SegProps<T>) {
  return (
    <div class="seg" role="group" aria-label={props.label}>
      <For each={props.choices}>
        {(choice) => (
          <button
            type="button"
            aria-pressed={choice.value === props.value}
            onClick={() => props.onChange(choice.value)}
          >
            <Show when={choice.icon}>{(name) => <Icon name={name()} />}</Show>
            {choice.text}
          </button>
        )}
      </For>
    </div>
  );
}

/** Beside what the keys do, and for those who see it: it is not part of the control's name. */
export function Kbd(props: { keys: string }) {
  return (
    <span aria-hidden="true">
      <kbd>{props.keys}</kbd>
    </span>
  );
}

export function Tag(props: { children: JSX.Element }) {
  return <span class="tag">{props.children}</span>;
}

/** How much of something is used up; decoration in what says it already. */
export function Ring(props: { part: number; label: string }) {
  let ring!: HTMLSpanElement;
  createEffect(() => ring.style.setProperty("--part", `${Math.round(Math.min(1, Math.max(0, props.part)) * 100)}%`));
  return (
    <Show when={props.label} fallback={<span ref={ring} class="ring" aria-hidden="true" />}>
      <span ref={ring} class="ring" role="img" aria-label={props.label} title={props.label} />
    </Show>
  );
}

interface BannerProps {
  status?: "waiting" | "failed" | undefined;
  icon?: IconName;
  actions?: JSX.Element;
  children: JSX.Element;
}

/** A sentence that stays until it is dealt with, with what can be done about it. */
export function Banner(props: BannerProps) {
  return (
    <div class={props.status ? `banner ${props.status}` : "banner"}>
      <Show when={props.icon}>{(name) => <Icon name={name()} />}</Show>
      <div class="grow">{props.children}</div>
      <Show when={props.actions}>
        <div class="end">{props.actions}</div>
      </Show>
    </div>
  );
}
