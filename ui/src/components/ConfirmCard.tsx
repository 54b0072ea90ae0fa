import { createMemo, Show } from "solid-js";
import type { ToolCall } from "../api/types";
import { readArguments } from "../state/delegation";
import { watch_only, watchesOnly } from "../state/device";
import { visible } from "../state/visible";
import { Fields } from "./Fields";
import { Icon } from "./Icon";
import { InlineError } from "./InlineError";
import { createSubmit } from "./submit";
import { Visible } from "./Visible";

interface ConfirmCardProps {
  call: ToolCall;
  onAnswer(approved: boolean): Promise<void>;
}

/** A tool of the main AI that runs only when somebody says so. */
export function ConfirmCard(props: ConfirmCardProps) {
  const { busy, error, submit } = createSubmit();
  const args = createMemo(() => readArguments(props.call.arguments));
  const answer = (approved: boolean) => submit(() => props.onAnswer(approved));
  return (
    <article class="card approval" tabindex="-1" aria-label={`${visible(props.call.name)} needs your confirmation`}>
      <h2>
        <Icon name="shield" />
        <span>
          Run <Visible text={props.call.name} />?
        </span>
      </h2>
      <div class="card-detail">
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
      <InlineError message={error()} />
      <div class="card-actions">
        <button type="button" class="button primary" disabled={busy() || watchesOnly()} onClick={() => answer(true)}>
          Allow
        </button>
        <button type="button" class="button danger" disabled={busy() || watchesOnly()} onClick={() => answer(false)}>
          Deny
        </button>
        <Show when={watchesOnly()}>
          <p class="card-meta">{watch_only}</p>
        </Show>
      </div>
    </article>
  );
}
