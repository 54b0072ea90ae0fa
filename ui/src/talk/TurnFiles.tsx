import { createResource, createSignal, For, Show } from "solid-js";
import { readSummary } from "../api/summary";
import { Button } from "../kit/Button";
import { Icon } from "../kit/Icon";
import { later } from "../kit/later";
import { PlusMinus, Tag } from "../kit/small";
import { Visible } from "../kit/Visible";
import { watchesOnly } from "../state/device";
import type { OpenSession } from "../state/openSession";
import { turnReviewHref } from "../state/route";

const CommitDialog = later(async () => (await import("../changes/CommitDialog")).CommitDialog);

/** Seldom there, and folded. */
const TurnMeanwhile = later(async () => (await import("../changes/TurnMeanwhile")).TurnMeanwhile);

const first_files = 3;
const words: Record<string, string> = { added: "new", deleted: "deleted", renamed: "renamed" };

/** What the last turn changed, below its last words. Asked for when the turn has ended. */
export function TurnFiles(props: { open: OpenSession }) {
  const state = props.open.state;
  const changesAnything = () => Object.keys(state.calls).length > 0;
  const [changes, { refetch }] = createResource(
    () => state.ready && state.runningTurn === null && changesAnything() && state.lastTurn,
    () => readSummary(props.open.id, "turn").catch(() => null),
  );
  const [committing, setCommitting] = createSignal(false);
  const shown = () => {
    const known = changes.latest;
    return known && known.total_files > 0 ? known : null;
  };
  return (
    <Show when={shown()}>
      {(known) => (
        <section class="turn-files" aria-label="Files of this turn">
          <header>
            <b>{known().total_files === 1 ? "1 file changed" : `${known().total_files} files changed`}</b>
            <PlusMinus additions={known().total_additions} deletions={known().total_deletions} />
            <span class="grow" />
            <Show when={known().source === "git" && !watchesOnly()}>
              <Button kind="quiet" small onClick={() => setCommitting(true)}>
                Commit
              </Button>
            </Show>
            <a class="button small" href={turnReviewHref(props.open.id)}>
              Review
            </a>
          </header>
          <ul>
            <For each={known().files.slice(0, first_files)}>
              {(file) => (
                <li>
                  <Icon name="read" size="small" />
                  <a class="cut" href={turnReviewHref(props.open.id, file.path)}>
                    <code>
                      <Visible text={file.path} />
                    </code>
                  </a>
                  <Show when={words[file.status]}>{(word) => <Tag>{word()}</Tag>}</Show>
                  <PlusMinus additions={file.additions} deletions={file.deletions} />
                </li>
              )}
            </For>
            <Show when={known().total_files > first_files}>
              <li>
                <a href={turnReviewHref(props.open.id)}>{known().total_files - first_files} more</a>
              </li>
            </Show>
          </ul>
          <Show when={known().meanwhile.length > 0}>
            <TurnMeanwhile sessionId={props.open.id} files={known().meanwhile} />
          </Show>
          <Show when={committing()}>
            <CommitDialog
              sessionId={props.open.id}
              onClose={() => setCommitting(false)}
              onDone={() => {
                setCommitting(false);
                void refetch();
              }}
            />
          </Show>
        </section>
      )}
    </Show>
  );
}
