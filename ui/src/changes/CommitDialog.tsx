import { createMemo, createResource, createSignal, For, Show } from "solid-js";
import { changesApi } from "../api/changes";
import { sentence } from "../api/client";
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
import { noteChanged } from "./summary";
import { statusWord } from "./words";

/** Everything that is not committed yet, or a choice of it. */
export function CommitDialog(props: { sessionId: string; onClose(): void; onDone(): void }) {
  const name = `commit.${props.sessionId}`;
  const [changes] = createResource(
    () => props.sessionId,
    (id) => changesApi.summary(id, "head"),
  );
  const [message, setMessage] = createSignal(readStored(name) ?? "");
  const [left, setLeft] = createSignal<ReadonlySet<string>>(new Set<string>());
  const drafting = createSubmit();
  const committing = createSubmit();
  const files = createMemo(() => (changes.error ? [] : (changes()?.files ?? [])));
  const chosen = () => files().filter(({ path }) => !left().has(path));
  const put = (text: string) => {
    setMessage(text);
    store(name, text);
  };
  const draft = () => drafting.submit(async () => put((await changesApi.draft(props.sessionId)).message));
  const canCommit = () => message().trim() !== "" && chosen().length > 0 && !committing.busy();
  const commit = async () => {
    if (!canCommit()) return;
    const paths = left().size === 0 ? {} : { paths: chosen().map(({ path }) => path) };
    const isDone = await committing.submit(async () => {
      const body = { message: message().trim(), ...paths };
      const { commit, branch, left_out } = await changesApi.commit(props.sessionId, body);
      if (left_out?.length) tell(`Too large to be committed: ${visible(left_out.join(", "))}`);
      tell(visible(`Committed ${commit.slice(0, 8)}${branch ? ` on ${branch}` : ""}`));
    });
    if (!isDone) return;
    put("");
    noteChanged();
    props.onDone();
  };
  const toggle = (path: string) => {
    const next = new Set(left());
    if (!next.delete(path)) next.add(path);
    setLeft(next);
  };
  return (
    <Dialog
      class="commit"
      title="Commit"
      onClose={() => props.onClose()}
      foot={
        <>
          <Button kind="quiet" disabled={drafting.busy() || files().length === 0} onClick={() => void draft()}>
            {drafting.busy() ? "Drafting…" : "Draft a message"}
          </Button>
          <span class="grow" />
          <Button kind="main" disabled={!canCommit()} onClick={() => void commit()}>
            {committing.busy() ? "Committing…" : `Commit ${filesWords(chosen().length)}`}
          </Button>
        </>
      }
    >
      <textarea
        class="field"
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
        <Show when={!changes.loading} fallback={<p class="mute">Looking for what is not committed…</p>}>
          <p class="commit-where soft">
            {files().length === 0 ? "Nothing to commit." : `${filesWords(files().length)} not committed`}
            <Show when={changes()?.branch}>
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
          <ul class="commit-files">
            <For each={files()}>
              {(file) => (
                <li>
                  <label>
                    <input type="checkbox" checked={!left().has(file.path)} onChange={() => toggle(file.path)} />
                    <span class="cut grow mono">
                      <Visible text={file.path} />
                    </span>
                    <Show when={statusWord(file)}>{(word) => <span class="tag">{word()}</span>}</Show>
                    <PlusMinus additions={file.additions} deletions={file.deletions} />
                  </label>
                </li>
              )}
            </For>
          </ul>
        </Show>
      </Show>
    </Dialog>
  );
}
