import { createMemo, createSignal, For, Show } from "solid-js";
import { sentence } from "../api/client";
import type { PermissionRequest } from "../api/types";
import { readUnified } from "../diff/lines";
import { DiffLines } from "./DiffLines";
import { Fields } from "./Fields";
import { Icon, kindIcon } from "./Icon";

interface PermissionCardProps {
  request: PermissionRequest;
  onChoose(optionId: string): Promise<void>;
}

/** What an agent wants to do, exactly, and the answers that it offers. */
export function PermissionCard(props: PermissionCardProps) {
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<string | null>(null);
  const choose = async (optionId: string) => {
    setBusy(true);
    setError(null);
    try {
      await props.onChoose(optionId);
    } catch (reason) {
      setError(sentence(reason));
      setBusy(false);
    }
  };
  const lines = createMemo(() => (props.request.diff ? readUnified(props.request.diff) : null));
  const locations = () => props.request.locations ?? [];
  const isBare = () => !props.request.command && !lines() && props.request.input != null;
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
      <Show when={error()}>
        {(message) => (
          <p class="inline-error" role="alert">
            {message()}
          </p>
        )}
      </Show>
      <div class="card-actions">
        <For each={props.request.options}>
          {(option) => (
            <button
              type="button"
              class="button"
              classList={{ primary: option.kind === "allow_once", danger: option.kind.startsWith("reject") }}
              disabled={busy()}
              onClick={() => choose(option.option_id)}
            >
              {option.name}
            </button>
          )}
        </For>
      </div>
    </article>
  );
}
