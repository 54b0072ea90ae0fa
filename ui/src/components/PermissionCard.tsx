import { createMemo, createSignal, For, Show } from "solid-js";
import type { PermissionAnswer, PermissionRequest, RuleScope } from "../api/types";
import { readUnified } from "../diff/lines";
import { DiffLines } from "./DiffLines";
import { Fields } from "./Fields";
import { Icon, kindIcon } from "./Icon";
import { InlineError } from "./InlineError";
import { scopes } from "./ruleText";
import { createSubmit } from "./submit";

interface PermissionCardProps {
  request: PermissionRequest;
  onChoose(answer: PermissionAnswer): Promise<void>;
}

const isAlways = (kind: string) => kind === "allow_always" || kind === "reject_always";

/** What an agent wants to do, exactly, and the answers that it offers. */
export function PermissionCard(props: PermissionCardProps) {
  const { busy, error, submit } = createSubmit();
  const [scope, setScope] = createSignal<RuleScope>("session");
  const choose = ({ option_id, kind }: { option_id: string; kind: string }) =>
    submit(() => props.onChoose(isAlways(kind) ? { option_id, remember: scope() } : { option_id }));
  const lines = createMemo(() => (props.request.diff ? readUnified(props.request.diff) : null));
  const locations = () => props.request.locations ?? [];
  const isBare = () => !props.request.command && !lines() && props.request.input != null;
  const covers = () => {
    if (props.request.kind === "execute" && props.request.command) return "exactly this command";
    return props.request.kind === "edit" && props.request.diff ? "every change of a file" : "exactly this request";
  };
  return (
    <article
      class="card approval"
      tabindex="-1"
      aria-label={`${props.request.session_name} asks: ${props.request.title}`}
    >
      <h2>
        <Icon name={kindIcon(props.request.kind)} />
        <span>{props.request.title}</span>
      </h2>
      <p class="card-meta">
        🤖 {props.request.session_name} asks for permission
        <Show when={props.request.kind}>{(kind) => <span class="badge">{kind()}</span>}</Show>
      </p>
      <div class="card-detail">
        <Show when={props.request.command}>{(command) => <code class="command">{command()}</code>}</Show>
        <Show when={locations().length > 0}>
          <ul class="locations" aria-label="Places">
            <For each={locations()}>
              {(place) => <li>{place.line == null ? place.path : `${place.path}:${place.line}`}</li>}
            </For>
          </ul>
        </Show>
        <Show when={lines()}>{(diff) => <DiffLines lines={diff()} />}</Show>
        <Show when={isBare()}>
          <Fields value={props.request.input} />
        </Show>
      </div>
      <InlineError message={error()} />
      <div class="card-actions">
        <For each={props.request.options}>
          {(option) => (
            <button
              type="button"
              class="button"
              classList={{ primary: option.kind === "allow_once", danger: option.kind.startsWith("reject") }}
              disabled={busy()}
              onClick={() => choose(option)}
            >
              {option.name}
            </button>
          )}
        </For>
        <Show when={props.request.options.some((option) => isAlways(option.kind))}>
          <label class="card-scope">
            <span>Always: {covers()}, in</span>
            <select
              disabled={busy()}
              onChange={(event) => setScope(event.currentTarget.value as RuleScope)}
              aria-label="How far always reaches"
            >
              <For each={scopes}>
                {([value, label]) => (
                  <option value={value} selected={value === scope()}>
                    {label}
                  </option>
                )}
              </For>
            </select>
          </label>
        </Show>
      </div>
    </article>
  );
}
