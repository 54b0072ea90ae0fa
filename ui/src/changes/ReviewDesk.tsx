import { createEffect, createSignal, Show, untrack } from "solid-js";
import type { FileChange } from "../api/types";
import { Button, IconButton } from "../kit/Button";
import { Icon } from "../kit/Icon";
import { PlusMinus, Seg } from "../kit/small";
import { Visible } from "../kit/Visible";
import { filesWords } from "./count";
import { FileList, type ListHandle } from "./FileList";
import { FileTree } from "./FileTree";
import { createView } from "./look";
import type { Review } from "./review";
import { SinceMenu } from "./SinceMenu";
import { StaleNote } from "./StaleNote";
import { States } from "./States";

export interface ReviewLook {
  review: Review;
  title: string;
  /** The one to begin with. */
  firstFile?: string | undefined;
  onClose(): void;
  onSend(): void;
  onCommit: (() => void) | undefined;
  onRevert: ((file: FileChange, hunk?: number) => void) | undefined;
}

/** The full review where there is room: files on the left, their lines on the right. */
export function ReviewDesk(props: ReviewLook) {
  const { review } = props;
  const { view, choose } = createView();
  const [current, setCurrent] = createSignal<string | null>(null);
  let list: ListHandle | undefined;
  const changes = () => review.changes();
  // Once: whoever reads on is not taken back.
  let asked = untrack(() => props.firstFile);
  createEffect(() => {
    const path = asked;
    if (path === undefined || ![...review.files(), ...review.meanwhile()].some((file) => file.path === path)) return;
    asked = undefined;
    requestAnimationFrame(() => list?.open(path));
  });
  return (
    <section class="review-page" aria-label="Review">
      <header class="review-head">
        <IconButton icon="back" label="Back to the conversation" onClick={() => props.onClose()} />
        <h1 class="cut">
          <Visible text={props.title} />
        </h1>
        <Show when={changes()?.branch}>
          {(branch) => (
            <span class="review-where soft cut">
              <Icon name="branch" size="small" />
              <Visible text={`${changes()?.project} / ${branch()}`} />
            </span>
          )}
        </Show>
      </header>
      <div class="review-bar" role="group" aria-label="About the changes">
        <SinceMenu review={review} />
        <Show when={changes()}>
          {(known) => (
            <>
              <span class="soft num">{filesWords(known().total_files)}</span>
              <PlusMinus additions={known().total_additions} deletions={known().total_deletions} />
              <Show when={review.files().length > 0}>
                <span class="review-progress soft num">
                  · {review.viewedCount()} of {review.files().length} viewed
                  <Progress part={review.viewedCount() / review.files().length} />
                </span>
              </Show>
            </>
          )}
        </Show>
        <StaleNote review={review} />
        <span class="grow" />
        <Seg
          label="View"
          value={view()}
          onChange={choose}
          choices={[
            { value: "unified", text: "Unified", icon: "unified" },
            { value: "split", text: "Split", icon: "split" },
          ]}
        />
        <Show when={props.onCommit}>
          {(commit) => (
            <Button small onClick={() => commit()()}>
              Commit
            </Button>
          )}
        </Show>
        <Button small kind="main" disabled={!changes()} onClick={() => props.onSend()}>
          Send review{" "}
          <Show when={review.comments().length > 0}>
            <span class="num">{review.comments().length}</span>
          </Show>
          <Icon name="more" size="small" />
        </Button>
      </div>
      <div class="review-body">
        <FileTree review={review} current={current()} onOpen={(path) => list?.open(path)} />
        <div class="review-main">
          <States review={review}>
            <FileList
              review={review}
              mode={view()}
              isFull
              onCurrent={setCurrent}
              onSend={() => props.onSend()}
              onRevert={props.onRevert}
              handle={(handle) => {
                list = handle;
              }}
            />
          </States>
        </div>
      </div>
    </section>
  );
}

function Progress(props: { part: number }) {
  let fill!: HTMLElement;
  createEffect(() => {
    fill.style.width = `${Math.round(props.part * 100)}%`;
  });
  return (
    <span class="progress" aria-hidden="true">
      <i ref={fill} />
    </span>
  );
}
