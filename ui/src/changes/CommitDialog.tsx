import { createMemo, createResource, createSignal, For, type JSX, Show } from "solid-js";
import { changesApi } from "../api/changes";
import { api, sentence } from "../api/client";
import { readSummary } from "../api/summary";
import type { FileChange } from "../api/types";
import { Button } from "../kit/Button";
import { Dialog } from "../kit/Dialog";
import { InlineError } from "../kit/InlineError";
import { PlusMinus } from "../kit/small";
import { createSubmit } from "../kit/submit";
import { tell } from "../kit/toasts";
import { Visible } from "../kit/Visible";
import { readStored, store } from "../state/storage";
import { visible } from "../state/visible";
import { filesWords } from "./count";
import { Writers } from "./Meanwhile";
import { noteChanged } from "./summary";
import { meanwhile_hint, meanwhile_title, statusWord } from "./words";

/** What is not committed yet: the session's own files ticked, what else changed meanwhile not. Commits exactly what is ticked. */
export function CommitDialog(props: { sessionId: string; onClose(): void; onDone(): void }) {
  const name = `commit.${props.sessionId}`;
  const [changes] = createResource(
    () => props.sessionId,
    (id) => readSummary(id, "head"),
  );
  const [session] = createResource(
    () => props.sessionId,
    (id) => api.session(id).catch(() => undefined),
  );
  /** Who would write the message. */
  const hasMainAi = () => session.latest !== undefined && session.latest.model !== "relay";
  const [message, setMessage] = createSignal(readStored(name) ?? "");
  const [turned, setTurned] = createSignal<ReadonlySet<string>>(new Set<string>());
  const drafting = createSubmit();
  const committing = createSubmit();
  const files = createMemo(() => (changes.error ? [] : (changes()?.files ?? [])));
  const meanwhile = createMemo(() => (changes.error ? [] : (changes()?.meanwhile ?? [])));
  const chosen = () => [
    ...files().filter(({ path }) => !turned().has(path)),
    ...meanwhile().filter(({ path }) => turned().has(path)),
  ];
  const paths = () => chosen().map(({ path }) => path);
  const put = (text: string) => {
    setMessage(text);
    store(name, text);
  };
  const draft = () => drafting.submit(async () => put((await changesApi.draft(props.sessionId, paths())).message));
  const canCommit = () => message().trim() !== "" && chosen().length > 0 && !committing.busy();
  const commit = async () => {
    if (!canCommit()) return;
    const isDone = await committing.submit(async () => {
      const body = { message: message().trim(), paths: paths() };
      const { commit, branch, left_out } = await changesApi.commit(props.sessionId, body);
      if (left_out?.length) tell(`Too large to commit: ${visible(left_out.join(", "))}`);
      tell(visible(`Committed ${commit.slice(0, 8)}${branch ? ` on ${branch}` : ""}`));
    });
    if (!isDone) return;
    put("");
    noteChanged();
    props.onDone();
  };
  const toggle = (path: string) => {
    const next = new Set(turned());
    if (!next.delete(path)) next.add(path);
    setTurned(next);
  };
  const rows = <T extends FileChange>(
    listed: T[],
    isTicked: (path: string) => boolean,
    beside: (file: T) => JSX.Element,
  ): JSX.Element => (
    <ul class="commit-files">
      <For each={listed}>
        {(file) => (
          <li>
            <label>
              <input type="checkbox" checked={isTicked(file.path)} onChange={() => toggle(file.path)} />
              <span class="cut grow mono">
                <Visible text={file.path} />
              </span>
              {beside(file)}
              <PlusMinus additions={file.additions} deletions={file.deletions} />
            </label>
          </li>
        )}
      </For>
    </ul>
  );
  return (
    <Dialog
      class="commit"
      title="Commit"
      onClose={() => props.onClose()}
      foot={
        <>
          <Show when={hasMainAi()}>
            <Button kind="quiet" disabled={drafting.busy() || chosen().length === 0} onClick={() => void draft()}>
              {drafting.busy() ? "Drafting…" : "Draft a message"}
            </Button>
          </Show>
          <span class="grow" />
          <Button kind="main" disabled={!canCommit()} onClick={() => void commit()}>
            {committing.busy() ? "Committing…" : `Commit ${filesWords(chosen().length)}`}
          </Button>
        </>
      }
    >
      <textarea
        class="field"
        autofocus
        aria-label="Commit message"
        placeholder="What this changes, and why"
        maxLength={20_000}
        value={message()}
        onInput={(event) => put(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void commit();
        }}
      />
      <InlineError message={drafting.error() ?? committing.error()} />
      <Show when={!changes.error} fallback={<InlineError message={sentence(changes.error)} />}>
        <Show when={!changes.loading} fallback={<p class="mute">Looking for uncommitted changes…</p>}>
          <p class="commit-where soft">
            {files().length === 0
              ? "Nothing to commit in this session."
              : `${filesWords(files().length)} not committed`}
            <Show when={files().length > 0 && changes()?.branch}>
              {(branch) => (
                <>
                  {" on "}
                  <b>
                    <Visible text={branch()} />
                  </b>
                </>
              )}
            </Show>
          </p>
          {rows(
            files(),
            (path) => !turned().has(path),
            (file) => (
              <Show when={statusWord(file)}>{(word) => <span class="tag">{word()}</span>}</Show>
            ),
          )}
          <Show when={meanwhile().length > 0}>
            <fieldset class="commit-meanwhile">
              <legend>{meanwhile_title}</legend>
              <p class="mute">{meanwhile_hint}</p>
              {rows(
                meanwhile(),
                (path) => turned().has(path),
                (file) => (
                  <Writers file={file} />
                ),
              )}
            </fieldset>
          </Show>
        </Show>
      </Show>
    </Dialog>
  );
}
