import { Show } from "solid-js";
import { watch_only, watchesOnly } from "../state/device";
import type { ServerState } from "../state/server";
import { InlineError } from "./InlineError";
import { createSubmit } from "./submit";

/** That agents work without asking is the default; here somebody sees it and chooses, once. */
export function PolicyChoice(props: { server: ServerState }) {
  const { busy, error, submit } = createSubmit();
  const isOpen = () => {
    const info = props.server.info();
    return info !== null && info.model !== "relay" && !info.policy_chosen && info.permission_policy === "auto";
  };
  const disabled = () => busy() || watchesOnly();
  return (
    <Show when={isOpen()}>
      <section class="policy-choice" aria-label="Approvals">
        <p>
          <strong>Agents work without asking:</strong> every command and change of delegated work is approved
          automatically.
        </p>
        <div class="policy-actions">
          <button
            type="button"
            class="button"
            disabled={disabled()}
            title={watchesOnly() ? watch_only : undefined}
            onClick={() => void submit(() => props.server.choose("auto"))}
          >
            Keep it so
          </button>
          <button
            type="button"
            class="button"
            disabled={disabled()}
            title={watchesOnly() ? watch_only : undefined}
            onClick={() => void submit(() => props.server.choose("ask"))}
          >
            Ask me first
          </button>
        </div>
        <InlineError message={error()} />
      </section>
    </Show>
  );
}
