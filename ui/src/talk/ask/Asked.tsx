import { createMemo, For, Show } from "solid-js";
import type { DiffHunk, PermissionRequest } from "../../api/types";
import { Fields } from "../../kit/Fields";
import { Icon } from "../../kit/Icon";
import { Visible } from "../../kit/Visible";
import { directoryText, environmentOf } from "../askText";
import { FileRow } from "../FileRow";
import { CallDiff } from "../timeline/CallDiff";

/** All of what would be done, however long: it is scrolled, never cut. */
export function Asked(props: { request: PermissionRequest }) {
  const changes = createMemo(() => (props.request.hunks ?? []) as { path: string; hunks: DiffHunk[] }[]);
  const environment = createMemo(() => (props.request.command ? environmentOf(props.request.input) : []));
  const hasChange = () => changes().length > 0 || !!props.request.diff;
  const isBare = () => !props.request.command && !hasChange() && props.request.input != null;
  return (
    <div class="asked" tabindex="0" role="group" aria-label="Requested action">
      <Show when={props.request.command}>{(command) => <Command text={command()} />}</Show>
      <Show when={props.request.run?.type === "words"}>
        <p class="card-place">exactly these arguments, without a shell</p>
      </Show>
      <Show when={props.request.cwd ?? props.request.command}>
        <p class="card-place">
          <Show when={props.request.cwd} fallback="Folder not stated">
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
      <RunsLater request={props.request} />
      <For each={changes()}>
        {(change) => (
          <>
            <Show when={changes().length > 1}>
              <p class="change-path">
                <code>
                  <Visible text={change.path} />
                </code>
              </p>
            </Show>
            <CallDiff path={change.path} hunks={change.hunks} />
          </>
        )}
      </For>
      <Show when={changes().length === 0 && props.request.diff}>
        {(patch) => (
          <pre class="tool-output">
            <Visible text={patch()} />
          </pre>
        )}
      </Show>
      <Show when={isBare()}>
        <Fields value={props.request.input} />
      </Show>
    </div>
  );
}

/** Exactly what would be run; the numbers of its lines are no part of it. */
function Command(props: { text: string }) {
  const lines = () => props.text.split("\n");
  return (
    <code class="command">
      <For each={lines()}>
        {(line, index) => (
          <span class="command-line">
            <Visible text={index() < lines().length - 1 ? `${line}\n` : line} />
          </span>
        )}
      </For>
    </code>
  );
}

/** Files whose content runs later, each with how: what is allowed now is not all that it does. */
function RunsLater(props: { request: PermissionRequest }) {
  return (
    <Show when={(props.request.warnings ?? []).length > 0}>
      <ul class="runs-later" aria-label="Runs later">
        <For each={props.request.warnings}>
          {(warning) => (
            <li>
              <Icon name="warning" size="small" />
              <span>
                <code>
                  <Visible text={warning.path} />
                </code>{" "}
                {warning.text}
              </span>
            </li>
          )}
        </For>
      </ul>
    </Show>
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
