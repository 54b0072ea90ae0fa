import { createMemo, Show, useContext } from "solid-js";
import type { ToolCall } from "../../api/types";
import { Button } from "../../kit/Button";
import { Fields } from "../../kit/Fields";
import { InlineError } from "../../kit/InlineError";
import { Kbd } from "../../kit/small";
import { createSubmit } from "../../kit/submit";
import { Visible } from "../../kit/Visible";
import { readArguments } from "../../state/delegation";
import { watch_only, watchesOnly } from "../../state/device";
import { visible } from "../../state/visible";
import { AskCard } from "./AskCard";
import { createAnswerKeys } from "./keys";
import { Pager } from "./pager";

interface ConfirmCardProps {
  call: ToolCall;
  onAnswer(approved: boolean): Promise<void>;
}

/** A tool of the main AI that runs only when somebody says so. */
export function ConfirmCard(props: ConfirmCardProps) {
  const { busy, error, submit } = createSubmit();
  const pager = useContext(Pager);
  const args = createMemo(() => readArguments(props.call.arguments));
  const answer = (approved: boolean) => void submit(() => props.onAnswer(approved));
  let isSeen = () => true;
  const disabled = () => busy() || watchesOnly() || !isSeen();
  createAnswerKeys(
    () => !disabled() && (pager?.isCurrent(props.call.id) ?? true),
    (key) => {
      if (key !== "enter" && key !== "d") return false;
      answer(key === "enter");
      return true;
    },
  );
  return (
    <AskCard
      label={`${visible(props.call.name)} needs your confirmation`}
      title={`Run ${props.call.name}?`}
      foot={(seen) => {
        isSeen = seen;
        return (
          <footer>
            <InlineError message={error()} />
            <div class="card-actions">
              <Button class="ask-allow" kind="main" disabled={disabled()} onClick={() => answer(true)}>
                Allow <Kbd keys="↵" />
              </Button>
              <Button class="ask-deny" kind="deny" disabled={disabled()} onClick={() => answer(false)}>
                Deny
              </Button>
              <p class="ask-note">{watchesOnly() ? watch_only : "Waits until you answer."}</p>
            </div>
          </footer>
        );
      }}
    >
      <div class="asked" tabindex="0" role="group" aria-label="What would be done">
        <Show
          when={args()}
          fallback={
            <pre class="tool-output">
              <Visible text={props.call.arguments} />
            </pre>
          }
        >
          {(fields) => <Fields value={fields()} />}
        </Show>
      </div>
    </AskCard>
  );
}
