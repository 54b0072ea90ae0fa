import { createSignal, onMount, Show } from "solid-js";
import type { Comment } from "../api/types";
import { Button, IconButton } from "../kit/Button";
import { InlineError } from "../kit/InlineError";
import { Tag } from "../kit/small";
import { createSubmit } from "../kit/submit";
import { clock } from "../kit/time";
import { Visible } from "../kit/Visible";
import { MarkdownText } from "../talk/markdown/Markdown";
import type { Draft } from "./drafts";
import { placeWords } from "./places";
import type { Review } from "./review";

interface CommentCardProps {
  review: Review;
  comment: Comment;
  isPlaced?: boolean;
}

/** A comment that waits to be sent, or that was sent and is not resolved yet. */
export function CommentCard(props: CommentCardProps) {
  return (
    <Show when={props.comment.sent_at} fallback={<PendingComment {...props} />}>
      {(at) => <SentComment {...props} at={at()} />}
    </Show>
  );
}

function SentComment(props: CommentCardProps & { at: string }) {
  return (
    <article class="remark sent" aria-label={`Sent comment, ${placeWords(props.comment)}`}>
      <div class="remark-head">
        <b>You</b>
        <span class="mute num">sent {clock(props.at)}</span>
        <Show when={!props.isPlaced}>
          <span class="mute">{placeWords(props.comment)}</span>
        </Show>
        <span class="grow" />
        <Tag>sent</Tag>
      </div>
      <CommentText {...props} />
      <div class="remark-foot">
        <span class="mute grow">Kept here until you resolve it.</span>
        <Button small onClick={() => props.review.drop(props.comment)}>
          Resolve
        </Button>
      </div>
    </article>
  );
}

function CommentText(props: CommentCardProps) {
  return (
    <>
      <Show when={!props.isPlaced && props.comment.quote}>
        {(quote) => (
          <pre class="remark-quote">
            <Visible text={quote()} />
          </pre>
        )}
      </Show>
      <MarkdownText text={props.comment.text} />
    </>
  );
}

function PendingComment(props: CommentCardProps) {
  const draft = () => props.review.drafts.list.find((other) => other.editing === props.comment.id);
  const edit = () => {
    const { id, created_at: _, ...comment } = props.comment;
    const fresh = { ...comment, editing: id };
    write(fresh);
    props.review.drafts.open(fresh);
  };
  return (
    <Show
      when={draft()}
      fallback={
        <article class="remark" aria-label={`Comment, ${placeWords(props.comment)}`}>
          <div class="remark-head">
            <b>You</b>
            <span class="mute num">{clock(props.comment.created_at)}</span>
            <Show when={!props.isPlaced}>
              <span class="mute">{placeWords(props.comment)}</span>
            </Show>
            <span class="grow" />
            <Tag>pending</Tag>
            <IconButton icon="edit" label="Edit the comment" onClick={edit} />
            <IconButton icon="trash" label="Delete the comment" onClick={() => props.review.drop(props.comment)} />
          </div>
          <CommentText {...props} />
        </article>
      }
    >
      {(found) => <CommentForm review={props.review} draft={found()} />}
    </Show>
  );
}

/** The one that somebody writes in: it gets focus back when its file is drawn anew under it. */
let writing: string | null = null;
const nameOf = (draft: Draft) => [draft.path, draft.side, draft.from_line, draft.to_line, draft.editing].join("\n");

/** The next form of this draft takes focus. */
export function write(draft: Draft): void {
  writing = nameOf(draft);
}

export function CommentForm(props: { review: Review; draft: Draft; onDone?: () => void }) {
  let field!: HTMLTextAreaElement;
  const { busy, error, submit } = createSubmit();
  const [isEmpty, setEmpty] = createSignal(props.draft.text.trim() === "");
  const name = nameOf(props.draft);
  onMount(() => {
    if (writing === name) field.focus({ preventScroll: props.draft.text !== "" });
  });
  const leave = () => {
    writing = null;
    const row = field.closest("tr")?.previousElementSibling;
    props.review.drafts.close(props.draft);
    if (row instanceof HTMLElement) row.focus({ preventScroll: true });
    props.onDone?.();
  };
  const save = async () => {
    if (isEmpty() || busy()) return;
    const row = field.closest("tr")?.previousElementSibling;
    if (!(await submit(() => props.review.save(props.draft)))) return;
    writing = null;
    if (row instanceof HTMLElement) row.focus({ preventScroll: true });
    props.onDone?.();
  };
  return (
    <div class="remark remark-form">
      <textarea
        ref={field}
        aria-label="Comment"
        placeholder="What should be different?"
        maxLength={10_000}
        value={props.draft.text}
        onFocus={() => write(props.draft)}
        onInput={(event) => {
          props.review.drafts.write(props.draft, event.currentTarget.value);
          setEmpty(event.currentTarget.value.trim() === "");
        }}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            event.stopPropagation();
            void save();
          }
          if (event.key === "Escape") {
            event.stopPropagation();
            // What was written is not thrown away by a key.
            if (isEmpty()) leave();
            else field.blur();
          }
        }}
      />
      <InlineError message={error()} />
      <div class="remark-foot">
        <span class="mute grow">{placeWords(props.draft)}</span>
        <Button small kind="quiet" onClick={leave}>
          Cancel
        </Button>
        <Button small disabled={isEmpty() || busy()} onClick={() => void save()}>
          {props.draft.editing === undefined ? "Add comment" : "Save"}
        </Button>
      </div>
    </div>
  );
}
