import { createResource, For, Show } from "solid-js";
import { sentence } from "../api/client";
import { pagesApi } from "../api/pages";
import type { PermissionRule } from "../api/types";
import { Dialog } from "../kit/Dialog";
import { Fields } from "../kit/Fields";
import { InlineError } from "../kit/InlineError";
import { Tag } from "../kit/small";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import { watch_only, watchesOnly } from "../state/device";
import { ruleText, scopes } from "../talk/ruleText";

/** The answers to permissions that are remembered: looked through, and taken back. */
export function RulesDialog(props: { sessionId: string; rule?: string | undefined; onClose(): void }) {
  const [rules, { mutate }] = createResource(async () => (await pagesApi.rules(props.sessionId)).rules);
  const revoke = async (rule: PermissionRule) => {
    await pagesApi.revokeRule(props.sessionId, rule.id);
    mutate((known) => known?.filter(({ id }) => id !== rule.id));
  };
  const failure = () => (rules.error === undefined ? null : sentence(rules.error));
  const known = () => (rules.error === undefined ? rules() : undefined);
  return (
    <Dialog title="Saved permissions" onClose={() => props.onClose()}>
      <InlineError message={failure()} />
      <Show when={known()}>
        {(list) => (
          <Show
            when={list().length > 0}
            fallback={<p class="soft">No saved permissions yet. Answer a question with “Always…” to save one.</p>}
          >
            <ul class="rules card">
              <For each={list()}>
                {(rule) => <RuleRow rule={rule} isPointedOut={rule.id === props.rule} onRevoke={() => revoke(rule)} />}
              </For>
            </ul>
          </Show>
        )}
      </Show>
    </Dialog>
  );
}

function RuleRow(props: { rule: PermissionRule; isPointedOut: boolean; onRevoke(): Promise<void> }) {
  const { busy, error, submit } = createSubmit();
  const scope = () => scopes.find(([value]) => value === props.rule.scope)?.[1];
  const subject = () => props.rule.subject;
  const command = () => {
    const known = subject();
    return known.type === "command" || known.type === "request" ? (known.command ?? null) : null;
  };
  const files = () => {
    const known = subject();
    return known.type === "request" || known.type === "files" ? (known.files ?? []) : [];
  };
  const input = () => {
    const known = subject();
    return known.type === "request" ? known.input : null;
  };
  return (
    <li
      ref={(row) => props.isPointedOut && queueMicrotask(() => row.scrollIntoView({ block: "nearest" }))}
      class="rule"
      classList={{ "pointed-out": props.isPointedOut }}
    >
      <div class="rule-text">
        <span>
          <Visible text={ruleText(props.rule)} />
        </span>
        <Tag>{scope()}</Tag>
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
