import { createMemo, createSignal, Show } from "solid-js";
import { sentence } from "../api/client";
import type { ToolCall } from "../api/types";
import { readArguments } from "../state/delegation";
import { Fields } from "./Fields";
import { Icon } from "./Icon";

interface ConfirmCardProps {
  call: ToolCall;
  onAnswer(approved: boolean): Promise<void>;
}

/** A tool of the main AI that runs only when somebody says so. */
export function ConfirmCard(props: ConfirmCardProps) {
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<string | null>(null);
  const args = createMemo(() => readArguments(props.call.arguments));
  const answer = async (approved: boolean) => {
    setBusy(true);
    setError(null);
    try {
      await props.onAnswer(approved);
    } catch (reason) {
      setError(sentence(reason));
      setBusy(false);
    }
  };
  return (
    <article class="card approval" tabindex="-1" aria-label={`${props.call.name} needs your confirmation`}>
      <h2>
        <Icon name="shield" />
        <span>Run {props.call.name}?</span>
      </h2>
      <div class="card-detail">
        <Show when={args()} fallback={<pre class="tool-output">{props.call.arguments}</pre>}>
          {(fields) => <Fields value={fields()} />}
        </Show>
      </div>
      <Show when={error()}>
        {(message) => (
          <p class="inline-error" role="alert">
            {message()}
          </p>
        )}
      </Show>
      <div class="card-actions">
        <button type="button" class="button primary" disabled={busy()} onClick={() => answer(true)}>
          Allow
        </button>
        <button type="button" class="button danger" disabled={busy()} onClick={() => answer(false)}>
          Deny
        </button>
      </div>
    </article>
  );
}
