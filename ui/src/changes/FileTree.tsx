import { createMemo, createSignal, For, Show } from "solid-js";
import { Icon } from "../kit/Icon";
import { PlusMinus } from "../kit/small";
import { Visible } from "../kit/Visible";
import type { Review } from "./review";
import { type Folder, splitPath, treeOf } from "./tree";
import { meanwhile_title } from "./words";

interface FileTreeProps {
  review: Review;
  current: string | null;
  onOpen(path: string): void;
}

export function FileTree(props: FileTreeProps) {
  const [filter, setFilter] = createSignal("");
  const folders = createMemo(() => treeOf(props.review.files(), filter()));
  const others = createMemo(() => treeOf(props.review.meanwhile(), filter()));
  const count = (path: string) => props.review.commentsOf(path).length;
  const drawn = (folder: Folder) => (
    <>
      <Show when={folder.path}>
        <p class="tree-folder">
          <Icon name="folder" size="small" />
          <span class="cut">
            <Visible text={folder.path} />
          </span>
        </p>
      </Show>
      <ul class={folder.path === "" ? "tree-top" : undefined}>
        <For each={folder.files}>
          {(file) => (
            <li>
              <button
                type="button"
                class="tree-file"
                classList={{ viewed: props.review.isViewed(file) }}
                aria-current={props.current === file.path ? "true" : undefined}
                onClick={() => props.onOpen(file.path)}
              >
                <Icon name={props.review.isViewed(file) ? "check" : "file"} size="small" />
                <span class="cut grow">
                  <Visible text={splitPath(file.path).name} />
                </span>
                <Show when={props.review.isViewed(file)}>
                  <span class="visually-hidden">, viewed</span>
                </Show>
                <Show when={count(file.path) > 0}>
                  <span class="comment-count">
                    <Icon name="comment" size="small" />
                    {count(file.path)}
                    <span class="visually-hidden"> pending</span>
                  </span>
                </Show>
                <PlusMinus additions={file.additions} deletions={file.deletions} />
              </button>
            </li>
          )}
        </For>
      </ul>
    </>
  );
  return (
    <nav class="file-tree" aria-label="Files">
      <label class="tree-find">
        <Icon name="search" size="small" />
        <span class="visually-hidden">Filter files</span>
        <input
          type="search"
          placeholder="Filter files"
          value={filter()}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      </label>
      <For each={folders()}>{drawn}</For>
      <Show when={folders().length + others().length === 0}>
        <p class="mute tree-none">No matches.</p>
      </Show>
      <Show when={others().length > 0}>
        <h2 class="tree-meanwhile">{meanwhile_title}</h2>
        <For each={others()}>{drawn}</For>
      </Show>
    </nav>
  );
}
