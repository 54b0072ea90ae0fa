import { createSignal, type JSX, onCleanup, onMount, Show } from "solid-js";
import { pagesApi } from "../../api/pages";
import { Button } from "../../kit/Button";
import { createSettling } from "../../kit/deliberate";
import { InlineError } from "../../kit/InlineError";
import { createSubmit } from "../../kit/submit";
import { Visible } from "../../kit/Visible";
import { watchesOnly } from "../../state/device";
import { useSessionHands } from "../nextSteps";

/** So long the server holds a denial; the clocks of two machines may differ. */
const hold_ms = 3_000;
const tick_ms = 200;

interface HeldFootProps {
  /** Who is told. */
  agent: string;
  /** When, in ms since 1970. */
  until: number;
  class: string;
  onUndo(): Promise<void>;
}

/** Where the answers were, until the agent is told of a denial. */
export function HeldFoot(props: HeldFootProps) {
  const { busy, error, submit } = createSubmit();
  const settling = createSettling(() => true);
  const left = () => Math.min(hold_ms, Math.max(0, props.until - Date.now()));
  const [seconds, setSeconds] = createSignal(Math.ceil(left() / 1000));
  let drain!: HTMLElement;
  onMount(() => {
    drain.style.animationDuration = `${left()}ms`;
    const timer = setInterval(() => setSeconds(Math.ceil(left() / 1000)), tick_ms);
    onCleanup(() => clearInterval(timer));
  });
  return (
    <div class={props.class}>
      <p role="status">
        Declined. <Visible text={props.agent} /> gets the answer in {seconds()} s.
      </p>
      <InlineError message={error()} />
      <Button
        disabled={busy() || watchesOnly()}
        aria-disabled={settling.isSettled() ? undefined : true}
        onClick={(event) => settling.takes(event) && void submit(() => props.onUndo())}
      >
        Undo
      </Button>
      <span class="held-drain" aria-hidden="true">
        <i ref={drain} />
      </span>
    </div>
  );
}

/** What was denied, in the conversation, for as long as that can be taken back. */
export function HeldLine(props: { id: string; children: JSX.Element }) {
  const hands = useSessionHands();
  const { busy, error, submit } = createSubmit();
  return (
    <>
      <p class="line">
        <span class="held-word">Declined</span> {props.children}
        <Show when={!watchesOnly() && hands}>
          {(hands) => (
            <button
              type="button"
              class="line-action"
              disabled={busy()}
              onClick={() => void submit(() => pagesApi.undoDenial(hands().open.id, props.id))}
            >
              Undo
            </button>
          )}
        </Show>
      </p>
      <InlineError message={error()} />
    </>
  );
}
