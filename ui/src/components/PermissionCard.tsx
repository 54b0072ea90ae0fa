import { createMemo, createSignal, For, Show } from "solid-js";
import type { PermissionAnswer, PermissionRequest, RuleScope } from "../api/types";
import { readUnified } from "../diff/lines";
import { watch_only, watchesOnly } from "../state/device";
import { visible } from "../state/visible";
import { covers, directoryText, environmentOf, isProtected } from "./askText";
import { DiffLines } from "./DiffLines";
import { Fields } from "./Fields";
import { FileRow } from "./FileRow";
import { Icon, kindIcon } from "./Icon";
import { InlineError } from "./InlineError";
import { scopes } from "./ruleText";
import { createSubmit } from "./submit";
import { Visible } from "./Visible";

interface PermissionCardProps {
  request: PermissionRequest;
  /** The title of the agent that asks. */
  agent: string;
  onChoose(answer: PermissionAnswer): Promise<void>;
}

const isAlways = (kind: string) => kind === "allow_always" || kind === "reject_always";

/** What an agent wants to do, exactly, and the answers that it offers. */
export function PermissionCard(props: PermissionCardProps) {
  const { busy, error, submit } = createSubmit();
  const [scope, setScope] = createSignal<RuleScope>("session");
  const choose = ({ option_id, kind }: { option_id: string; kind: string }) =>
    submit(() => props.onChoose(isAlways(kind) ? { option_id, remember: scope() } : { option_id }));
  const reach = createMemo(() => covers(props.request));
  /** Whatever would be remembered without being covered is not offered. */
  const options = () => props.request.options.filter((option) => option.kind !== "allow_always" || reach() !== null);
  const disabled = () => busy() || watchesOnly();
  return (
    <article
      class="card approval"
      tabindex="-1"
      aria-label={visible(`${props.request.session_name} asks: ${props.request.title}`)}
    >
      <h2>
        <Icon name={kindIcon(props.request.kind)} />
        <span>
          <Visible text={props.request.title} />
        </span>
      </h2>
      <p class="card-meta">
        🤖 <Visible text={`${props.agent} [${props.request.session_name}]`} /> asks for permission
        <Show when={props.request.kind}>
          {(kind) => (
            <span class="badge">
              <Visible text={kind()} />
            </span>
          )}
        </Show>
      </p>
      <Asked request={props.request} />
      <InlineError message={error()} />
      <div class="card-actions">
        <For each={options()}>
          {(option) => (
            <button
              type="button"
              class="button"
              classList={{ primary: option.kind === "allow_once", danger: option.kind.startsWith("reject") }}
              disabled={disabled()}
              title={watchesOnly() ? watch_only : undefined}
              onClick={() => choose(option)}
            >
              <Visible text={option.name} />
            </button>
          )}
        </For>
        <Show when={options().some((option) => isAlways(option.kind))}>
          <label class="card-scope">
            <span>
              Always: <Visible text={reach() ?? "exactly this request"} />, in
            </span>
            <select
              disabled={disabled()}
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
        <Show when={isProtected(props.request)}>
          <p class="card-meta">A protected file is asked for every time.</p>
        </Show>
        <Show when={watchesOnly()}>
          <p class="card-meta">{watch_only}</p>
        </Show>
      </div>
    </article>
  );
}

/** All of what would be done, however long: it is scrolled, never cut. */
function Asked(props: { request: PermissionRequest }) {
  const lines = createMemo(() => (props.request.diff ? readUnified(props.request.diff) : null));
  const environment = createMemo(() => (props.request.command ? environmentOf(props.request.input) : []));
  const isBare = () => !props.request.command && !lines() && props.request.input != null;
  return (
    <div class="card-detail" tabindex="0" role="group" aria-label="What would be done">
      <Show when={props.request.command}>
        {(command) => (
          <code class="command">
            <Visible text={command()} />
          </code>
        )}
      </Show>
      <Show when={props.request.cwd ?? props.request.command}>
        <p class="card-place">
          <Show when={props.request.cwd} fallback="in a directory that the agent does not name">
            {(cwd) => (
              <>
                in <Visible text={directoryText(cwd())} />
              </>
            )}
          </Show>
        </p>
      </Show>
      <Show when={environment().length > 0}>
        <ul class="locations" aria-label="Environment">
          <For each={environment()}>
            {(variable) => (
              <li>
                <Visible text={variable} />
              </li>
            )}
          </For>
        </ul>
      </Show>
      <Places request={props.request} />
      <Show when={lines()}>{(diff) => <DiffLines lines={diff()} />}</Show>
      <Show when={isBare()}>
        <Fields value={props.request.input} />
      </Show>
    </div>
  );
}

/** The files, by what they resolve to; where those are not known, the places that the agent names. */
function Places(props: { request: PermissionRequest }) {
  const files = () => props.request.files ?? [];
  const locations = () => (files().length > 0 ? [] : (props.request.locations ?? []));
  return (
    <Show when={files().length + locations().length > 0}>
      <ul class="locations" aria-label="Places">
        <For each={files()}>{(file) => <FileRow file={file} />}</For>
        <For each={locations()}>
          {(place) => (
            <li>
              <Visible text={place.line == null ? place.path : `${place.path}:${place.line}`} />
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}
