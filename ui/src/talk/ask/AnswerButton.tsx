import { Show, splitProps } from "solid-js";
import { Button, type ButtonProps } from "../../kit/Button";
import { Kbd } from "../../kit/small";
import { watch_only, watchesOnly } from "../../state/device";
import type { Gate } from "./AskCard";

interface AnswerButtonProps extends Omit<ButtonProps, "disabled" | "onClick"> {
  gate: Gate;
  busy: boolean;
  /** What answers the same once the card is engaged. */
  keys?: string;
  onAnswer?(): void;
}

/** A button that answers a question, once a press can have been meant for it. */
export function AnswerButton(props: AnswerButtonProps) {
  const [own, rest] = splitProps(props, ["gate", "busy", "keys", "onAnswer", "children"]);
  const isOff = () => own.busy || watchesOnly() || !own.gate.isSeen();
  return (
    <Button
      title={watchesOnly() ? watch_only : undefined}
      {...rest}
      disabled={isOff()}
      // It keeps the focus while it settles anew.
      aria-disabled={own.gate.isSettled() ? undefined : true}
      onClick={(event) => {
        if (!own.gate.takes(event)) return event.preventDefault();
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
