import { type JSX, Show } from "solid-js";
import type { Agent, NewAttachment } from "../api/types";
import { Composer } from "./Composer";
import { type Choices, Pills } from "./Pills";
import { UsageRing } from "./UsageRing";

interface DockProps {
  draftKey: string;
  /** A composer that is made anew takes its text from what is stored; counts from 1. */
  attempt: number;
  sessionId?: string;
  isRelay: boolean;
  running: boolean;
  stopping: boolean;
  placeholder: string;
  /** Left out where nothing can be chosen yet. */
  choices?: Choices;
  /** What is above the composer. */
  children?: JSX.Element;
  onSend(content: string, attachments: NewAttachment[]): void;
  onStop(): void;
  onUp?(): void;
}

/** The composer with its pills, and what stands above it. */
export function Dock(props: DockProps) {
  const own = (): Agent | undefined => props.choices?.agents.find(({ id }) => id === props.choices?.agent);
  const refusesImages = () => own()?.abilities.some(({ id, value }) => id === "images" && value === "no") ?? false;
  return (
    <div class="dock">
      <div class="column">
        {props.children}
        <Show when={props.attempt} keyed>
          {(_) => (
            <Composer
              draftKey={props.draftKey}
              running={props.running}
              stopping={props.stopping}
              {...(props.sessionId === undefined ? {} : { sessionId: props.sessionId })}
              isRelay={props.isRelay}
              imagesRefusedBy={props.isRelay && refusesImages() ? own()?.title : undefined}
              placeholder={props.placeholder}
              pills={<Show when={props.choices}>{(choices) => <Pills {...choices()} />}</Show>}
              meter={<Show when={props.choices?.options}>{(options) => <UsageRing options={options()} />}</Show>}
              onSend={props.onSend}
              onStop={props.onStop}
              onUp={() => props.onUp?.()}
            />
          )}
        </Show>
      </div>
    </div>
  );
}
