import { createResource, For, onMount, Show } from "solid-js";
import { api, sentence } from "../api/client";
import type { PermissionRule } from "../api/types";
import { watch_only, watchesOnly } from "../state/device";
import { Fields } from "./Fields";
import { InlineError } from "./InlineError";
import { ruleText, scopes } from "./ruleText";
import { createSubmit } from "./submit";
import { Visible } from "./Visible";

/** The answers to permissions that are remembered: looked through, and taken back. */
export function RulesDialog(props: { sessionId: string; onClose(): void }) {
  let dialog: HTMLDialogElement | undefined;
  onMount(() => dialog?.showModal());
  const [rules, { mutate }] = createResource(async () => (await api.rules(props.sessionId)).rules);
  const revoke = async (rule: PermissionRule) => {
    await api.revokeRule(props.sessionId, rule.id);
    mutate((known) => known?.filter(({ id }) => id !== rule.id));
  };
  const failure = () => (rules.error === undefined ? null : sentence(rules.error));
  const known = () => (rules.error === undefined ? rules() : undefined);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="rules-title" onClose={() => props.onClose()}>
      <h2 id="rules-title">Remembered answers</h2>
      <InlineError message={failure()} />
      <Show when={known()}>
        {(list) => (
          <Show when={list().length > 0} fallback={<p>Nothing yet: answer a question of an agent with “always”.</p>}>
            <ul class="rules">
              <For each={list()}>{(rule) => <RuleRow rule={rule} onRevoke={() => revoke(rule)} />}</For>
            </ul>
          </Show>
        )}
      </Show>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={() => dialog?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

function RuleRow(props: { rule: PermissionRule; onRevoke(): Promise<void> }) {
  const { busy, error, submit } = createSubmit();
  const scope = () => scopes.find(([value]) => value === props.rule.scope)?.[1];
  const subject = () => props.rule.subject;
  const command = () => {
    const known = subject();
    return known.type === "edits" ? null : (known.command ?? null);
  };
  const files = () => {
    const known = subject();
    return known.type === "request" ? (known.files ?? []) : [];
  };
  const input = () => {
    const known = subject();
    return known.type === "request" ? known.input : null;
  };
  return (
    <li class="rule">
      <div class="rule-text">
        <span>
          <Visible text={ruleText(props.rule)} />
        </span>
        <span class="badge">{scope()}</span>
        <Show when={command()}>
          {(text) => (
            <code class="command">
              <Visible text={text()} />
            </code>
          )}
        </Show>
        <For each={files()}>
          {(path) => (
            <code class="rule-file">
              <Visible text={path} />
            </code>
          )}
        </For>
        <Show when={input() != null}>
          <Fields value={input()} />
        </Show>
      </div>
      <button
        type="button"
        class="button small danger"
        disabled={busy() || watchesOnly()}
        title={watchesOnly() ? watch_only : undefined}
        onClick={() => submit(props.onRevoke)}
      >
        Revoke
      </button>
      <InlineError message={error()} />
    </li>
  );
}
