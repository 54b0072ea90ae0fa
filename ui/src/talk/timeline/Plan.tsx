import { createMemo, For, Show } from "solid-js";
import type { PlanEntry } from "../../api/types";
import { Icon } from "../../kit/Icon";
import { Tag } from "../../kit/small";
import type { Heard } from "../../state/flow";
import { Fold } from "../Fold";
import { MarkdownText } from "../markdown/Markdown";
import { RawLines } from "../rawLater";
import { stepStatus } from "./rows";
import { Event } from "./Timeline";

/** Stands in every line that tells of one. */
const plan_mark = '"plan"';

const words: Record<string, string> = {
  completed: "done",
  in_progress: "in progress",
  pending: "to do",
  stopped: "stopped",
};

/** What the agent means to do, as a list to tick off. */
export function Plan(props: { entries: PlanEntry[]; heard: Heard | null; running: boolean; key: string }) {
  const isAtWork = () => props.running || props.entries.some((entry) => entry.status === "in_progress");
  // One that was open stays so: what is read below it must not move when the agent has ended.
  const wasAtWork = createMemo<boolean>((was) => was || isAtWork(), false);
  const done = () => props.entries.filter((entry) => entry.status === "completed").length;
  return (
    <Event icon="plan" class="plan">
      <Fold
        key={props.key}
        eager
        open={wasAtWork()}
        head={
          <>
            Plan · {done()} of {props.entries.length}
          </>
        }
      >
        <PlanSteps entries={props.entries} running={props.running} />
        <RawLines heard={props.heard} text={plan_mark} />
      </Fold>
    </Event>
  );
}

export function PlanSteps(props: { entries: PlanEntry[]; running: boolean }) {
  return (
    <ul class="plan-steps">
      <For each={props.entries}>
        {(entry) => {
          const status = () => stepStatus(entry, props.running);
          return (
            <li classList={{ [status()]: true }}>
              <span class="tick" aria-hidden="true">
                <Show when={status() === "completed"}>
                  <Icon name="check" />
                </Show>
              </span>
              <MarkdownText text={entry.content} />
              <span class="visually-hidden">, {words[status()] ?? status()}</span>
              <Show when={entry.priority === "high"}>
                <Tag>high</Tag>
              </Show>
            </li>
          );
        }}
      </For>
    </ul>
  );
}
