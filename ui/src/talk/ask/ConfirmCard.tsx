import { createMemo, Show } from "solid-js";
import type { ToolCall } from "../../api/types";
import { Fields } from "../../kit/Fields";
import { InlineError } from "../../kit/InlineError";
import { createSubmit } from "../../kit/submit";
import { Visible } from "../../kit/Visible";
import { readArguments } from "../../state/delegation";
import { watch_only, watchesOnly } from "../../state/device";
import { visible } from "../../state/visible";
import { AnswerButton } from "./AnswerButton";
import { AskCard } from "./AskCard";

interface ConfirmCardProps {
  call: ToolCall;
  onAnswer(approved: boolean): Promise<void>;
}

/** A tool of the main AI that runs only when somebody says so. */
export function ConfirmCard(props: ConfirmCardProps) {
  const { busy, error, submit } = createSubmit();
  const args = createMemo(() => readArguments(props.call.arguments));
  const answer = (approved: boolean) => void submit(() => props.onAnswer(approved));
  return (
    <AskCard
      id={props.call.id}
      label={`${visible(props.call.name)} needs your confirmation`}
      title={`Run ${props.call.name}?`}
      onKey={(key) => {
        if (busy() || watchesOnly() || (key !== "enter" && key !== "d")) return false;
        answer(key === "enter");
        return true;
      }}
      foot={(gate) => (
        <footer>
          <InlineError message={error()} />
          <div class="card-actions">
            <AnswerButton
              gate={gate}
              busy={busy()}
              class="ask-allow"
              kind="main"
              keys="↵"
              onAnswer={() => answer(true)}
            >
              Allow
            </AnswerButton>
            <AnswerButton
              gate={gate}
              busy={busy()}
              class="ask-deny"
              kind="deny"
              keys="D"
              onAnswer={() => answer(false)}
            >
              Deny
            </AnswerButton>
            <p class="ask-note">{watchesOnly() ? watch_only : "Waits until you answer."}</p>
          </div>
        </footer>
      )}
    >
      <div class="asked" tabindex="0" role="group" aria-label="Requested action">
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
