import { createEffect, createMemo, Show } from "solid-js";
import type { StreamingToolCall } from "../../state/model";
import { planOf } from "../timeline/rows";

/** How far its plan is. */
export function LaneFoot(props: { call: StreamingToolCall; running: boolean }) {
  const plan = createMemo(() => planOf(props.call.copilotStream));
  const done = () => plan().filter((entry) => entry.status === "completed").length;
  return (
    <Show when={plan().length > 0}>
      <p class="lane-foot num">
        <span>
          {done()} of {plan().length}
        </span>
        <Bar part={done() / plan().length} />
      </p>
    </Show>
  );
}

function Bar(props: { part: number }) {
  let bar!: HTMLSpanElement;
  createEffect(() => bar.style.setProperty("--part", `${Math.round(props.part * 100)}%`));
  return <span ref={bar} class="bar" aria-hidden="true" />;
}
