import { Show, splitProps } from "solid-js";
import { Button, type ButtonProps } from "../../kit/Button";
import { createSettling } from "../../kit/deliberate";
import { Kbd } from "../../kit/small";
import { watch_only, watchesOnly } from "../../state/device";
import type { Gate } from "./AskCard";

interface AnswerButtonProps extends Omit<ButtonProps, "disabled" | "onClick"> {
  gate: Omit<Gate, "isEngaged">;
  busy: boolean;
  /** What answers the same once the card is engaged. */
  keys?: string;
  onAnswer?(): void;
}

/** A button that answers a question, once a press can have been meant for it. */
export function AnswerButton(props: AnswerButtonProps) {
  const [own, rest] = splitProps(props, ["gate", "busy", "keys", "onAnswer", "children", "ref"]);
  let button!: HTMLButtonElement;
  // It may come, go and move by itself while the card stays.
  const settling = createSettling(
    () => true,
    () => button,
  );
  const isSettled = () => own.gate.isSettled() && settling.isSettled();
  const isOff = () => own.busy || watchesOnly() || !own.gate.isSeen();
  return (
    <Button
      title={watchesOnly() ? watch_only : undefined}
      {...rest}
      ref={(element) => {
        button = element;
        if (typeof own.ref === "function") own.ref(element);
      }}
      disabled={isOff()}
      // It keeps the focus while it settles anew.
      aria-disabled={isSettled() ? undefined : true}
      onClick={(event) => {
        if (!own.gate.takes(event) || !settling.takes(event)) return event.preventDefault();
        own.onAnswer?.();
      }}
    >
      {own.children}
      <Show when={own.keys}>
        {(keys) => (
          <span class="answer-keys">
            {" "}
            <Kbd keys={keys()} />
          </span>
        )}
      </Show>
    </Button>
  );
}
