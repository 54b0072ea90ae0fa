import { For, Show } from "solid-js";
import type { ReviewArtifact } from "../api/types";
import { Icon } from "../kit/Icon";
import { PlusMinus } from "../kit/small";
import { Visible } from "../kit/Visible";
import { visible } from "../state/visible";
import { filesWords, named_files } from "./count";

export function artifactHref(id: string): string {
  return `#/artifacts/${encodeURIComponent(id)}`;
}

/** A stored set of changes, in a few lines. It opens in the review. */
export function ReviewCard(props: { artifact: ReviewArtifact }) {
  const rest = () => props.artifact.files.length - named_files;
  return (
    <section class="review-card" aria-label={`Changes: ${visible(props.artifact.title)}`}>
      <header>
        <Icon name="files" />
        <b class="cut">
          <Visible text={props.artifact.title} />
        </b>
        <span class="mute num">{filesWords(props.artifact.total_files)}</span>
        <PlusMinus additions={props.artifact.total_additions} deletions={props.artifact.total_deletions} />
        <span class="grow" />
        <a class="button small" href={artifactHref(props.artifact.artifact_id)}>
          Review
        </a>
      </header>
      <ul>
        <For each={props.artifact.files.slice(0, named_files)}>
          {(file) => (
            <li>
              <Icon name="file" size="small" />
              <span class="cut mono">
                <Visible text={file.path} />
              </span>
              <Show when={file.status !== "modified"}>
                <span class="tag">{file.status === "added" ? "new" : file.status}</span>
              </Show>
              <span class="grow" />
              <PlusMinus additions={file.additions} deletions={file.deletions} />
            </li>
          )}
        </For>
        <Show when={rest() > 0}>
          <li class="mute">and {filesWords(rest())} more</li>
        </Show>
      </ul>
    </section>
  );
}
