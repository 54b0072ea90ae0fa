import { createResource, createSignal, For, Show } from "solid-js";
import { api, sentence } from "../api/client";
import type { ArtifactFile, ReviewArtifact, ReviewFile } from "../api/types";
import { visible } from "../state/visible";
import { patchHtml } from "./html";
import { Icon } from "./Icon";
import { Spinner } from "./Spinner";
import { Visible } from "./Visible";

/** A set of changes to look at: the files at once, their diffs when somebody opens one. */
export function ReviewCard(props: { artifact: ReviewArtifact }) {
  const [wanted, setWanted] = createSignal<string | false>(false);
  const [full] = createResource(wanted, (id) => api.artifact(id));
  const file = (path: string) => (full.error ? undefined : full()?.files.find((file) => file.path === path));
  return (
    <section class="card review" aria-label={`Changes: ${visible(props.artifact.title)}`}>
      <h2>
        <Icon name="files" />
        <span>
          <Visible text={props.artifact.title} />
        </span>
        <Counts additions={props.artifact.total_additions} deletions={props.artifact.total_deletions} />
      </h2>
      <p class="card-meta">
        {props.artifact.total_files} {props.artifact.total_files === 1 ? "file" : "files"}
        <span class="badge">{props.artifact.status}</span>
      </p>
      <For each={props.artifact.files}>
        {(summary) => (
          <ReviewFileView
            summary={summary}
            full={file(summary.path)}
            error={full.error ? sentence(full.error) : null}
            onOpen={() => setWanted(props.artifact.artifact_id)}
          />
        )}
      </For>
    </section>
  );
}

interface ReviewFileViewProps {
  summary: ReviewFile;
  full: ArtifactFile | undefined;
  error: string | null;
  onOpen(): void;
}

function ReviewFileView(props: ReviewFileViewProps) {
  return (
    <details class="review-file" onToggle={(event) => event.currentTarget.open && props.onOpen()}>
      <summary>
        <span class="review-path">
          <Visible text={props.summary.path} />
        </span>
        <Show when={props.summary.status !== "modified"}>
          <span class="badge">{props.summary.status}</span>
        </Show>
        <Counts additions={props.summary.additions} deletions={props.summary.deletions} />
      </summary>
      <Show when={props.error}>{(message) => <p class="inline-error">{message()}</p>}</Show>
      <Show
        when={props.full}
        fallback={
          <Show when={!props.error}>
            <p class="log-hint">
              <Spinner /> Loading the diff…
            </p>
          </Show>
        }
      >
        {(file) => (
          <>
            <Show when={file().old_path}>
              {(path) => (
                <p class="card-meta">
                  was <Visible text={path()} />
                </p>
              )}
            </Show>
            <Show when={!file().binary} fallback={<p class="card-meta">A binary file.</p>}>
              <div
                class="review-diff"
                tabindex="0"
                role="group"
                aria-label={`Diff of ${visible(props.summary.path)}`}
                ref={(element) => patchHtml(element, file().diff_html ?? "")}
              />
            </Show>
          </>
        )}
      </Show>
    </details>
  );
}

function Counts(props: { additions: number; deletions: number }) {
  return (
    <span class="change-count">
      <span class="plus">+{props.additions}</span> <span class="minus">−{props.deletions}</span>
    </span>
  );
}
