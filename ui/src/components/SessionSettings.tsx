import { createMemo, createSignal, For, Show } from "solid-js";
import type { Agent, Policy, Session, SessionChange } from "../api/types";
import { watch_only, watchesOnly } from "../state/device";
import { AgentChoice } from "./AgentChoice";
import { RulesDialog } from "./RulesDialog";

const policies: [Policy, string][] = [
  ["auto", "auto: approve all"],
  ["ask", "ask me"],
  ["read-only", "read-only: ask for the rest"],
  ["deny", "deny all"],
];

interface SessionSettingsProps {
  session: Session;
  agents: Agent[];
  isFresh: boolean;
  /** On a phone: whether they are shown. */
  open: boolean;
  onChange(change: SessionChange): Promise<void>;
}

export function SessionSettings(props: SessionSettingsProps) {
  const [showRules, setShowRules] = createSignal(false);
  /** Changes only when the model does: a half-written name outlives other news of the session. */
  const model = createMemo(() => props.session.model);
  return (
    <div class="session-settings" classList={{ open: props.open }} title={watchesOnly() ? watch_only : undefined}>
      <label>
        <span>Model</span>
        <input
          type="text"
          value={model()}
          disabled={watchesOnly()}
          spellcheck={false}
          autocomplete="off"
          onChange={(event) => {
            const name = event.currentTarget.value.trim();
            if (name === "") event.currentTarget.value = model();
            else void props.onChange({ model: name });
          }}
        />
      </label>
      <Show when={!props.isFresh}>
        <AgentChoice
          agents={props.agents}
          chosen={props.session.agent}
          onChoose={(agent) => void props.onChange({ agent })}
        />
      </Show>
      <label>
        <span>Permissions</span>
        <select
          disabled={watchesOnly()}
          onChange={(event) => void props.onChange({ permission_policy: event.currentTarget.value as Policy })}
        >
          <Show when={props.session.permission_policy === null}>
            <option value="" selected disabled>
              server’s default
            </option>
          </Show>
          <For each={policies}>
            {([policy, label]) => (
              <option value={policy} selected={policy === props.session.permission_policy}>
                {label}
              </option>
            )}
          </For>
        </select>
      </label>
      <button type="button" class="button small" onClick={() => setShowRules(true)}>
        Remembered answers
      </button>
      <Show when={showRules()}>
        <RulesDialog sessionId={props.session.id} onClose={() => setShowRules(false)} />
      </Show>
    </div>
  );
}
