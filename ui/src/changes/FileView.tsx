import { createMemo, createSignal, For, Match, mapArray, onCleanup, onMount, Show, Switch } from "solid-js";
import { sentence } from "../api/client";
import type { Comment, FileChange } from "../api/types";
import { Button, IconButton } from "../kit/Button";
import { CopyButton } from "../kit/CopyButton";
import { Icon } from "../kit/Icon";
import { Menu } from "../kit/Menu";
import { MenuItem } from "../kit/MenuList";
import { PlusMinus, Tag } from "../kit/small";
import { Visible } from "../kit/Visible";
import { visible } from "../state/visible";
import { CommentCard, CommentForm, write } from "./Comments";
import { DiffTable, type Note, type Range } from "./DiffTable";
import type { Draft } from "./drafts";
import { PictureDiff } from "./PictureDiff";
import { createPicking, type Picking } from "./picking";
import { isInHunks, movedTo, placeOf, quoteOf } from "./places";
import type { Review } from "./review";
import { type Mode, numberAt, type Side } from "./rows";
import { isPicture, statusWord, withoutLines } from "./words";

export interface FileHandle {
  picking: Picking;
  element: HTMLElement;
}

interface FileViewProps {
  review: Review;
  file: FileChange;
  mode: Mode;
  /** Of the whole review, with everything; the panel beside the conversation has less. */
  isFull?: boolean;
  onViewed(isViewed: boolean): void;
  onRevert?: ((hunk?: number) => void) | undefined;
  handles?: Map<string, FileHandle>;
}

/** A changed file: its name, which stays in sight, and its lines. */
export function FileView(props: FileViewProps) {
  let element!: HTMLElement;
  const file = () => props.file;
  const picking = createFilePicking(props);
  const isFolded = () => props.review.isFolded(file());
  const count = () => props.review.commentsOf(file().path).length;
  onMount(() => {
    const { path } = file();
    props.handles?.set(path, { picking, element });
    onCleanup(() => props.handles?.delete(path));
  });
  return (
    <article ref={element} class="file-diff" aria-label={visible(file().path)} data-path={file().path}>
      <header>
        <IconButton
          icon={isFolded() ? "next" : "more"}
          label={`${isFolded() ? "Unfold" : "Fold"} ${visible(file().path)}`}
          aria-expanded={!isFolded()}
          onClick={() => props.review.fold(file(), !isFolded())}
        />
        <PathOf file={file()} />
        <Show when={statusWord(file())}>{(word) => <Tag>{word()}</Tag>}</Show>
        <PlusMinus additions={file().additions} deletions={file().deletions} />
        <span class="grow" />
        <Show when={count() > 0}>
          <span class="comment-count" role="img" aria-label={`${count()} pending`}>
            <Icon name="comment" size="small" />
            {count()}
          </span>
        </Show>
        <Show when={props.isFull}>
          <CopyButton text={() => file().path} label="Copy the path" />
        </Show>
        <FileMenu {...props} onComment={() => commentOnFile(props.review, file())} />
        <ViewedBox isViewed={props.review.isViewed(file())} onChange={(viewed) => props.onViewed(viewed)} />
      </header>
      <Show when={!isFolded()}>
        <FileBody {...props} picking={picking} />
      </Show>
    </article>
  );
}

/** Lines of this file are chosen to be commented on. */
export function createFilePicking(props: { review: Review; file: FileChange; mode: Mode }): Picking {
  const picking = createPicking({
    byLine: () => props.mode === "narrow",
    onPick: (range) => {
      comment(props.review, props.file, range, picking);
      picking.clear();
    },
  });
  return picking;
}

/** Opens a comment on some lines. */
export function comment(review: Review, file: FileChange, range: Range, picking: Picking, text = ""): void {
  const lines = (picking.handle()?.rows() ?? []).flatMap((row) =>
    row.kind === "line" ? [row.line] : row.kind === "pair" ? ([row[range.side]].filter(Boolean) as never[]) : [],
  );
  const quote = quoteOf(lines, range.side, range.from, range.to);
  const { path } = file;
  const draft = { path, side: range.side, from_line: range.from, to_line: range.to, quote, text };
  // First: the form takes focus as soon as it is there.
  write(draft);
  review.drafts.open(draft);
}

export function commentOnFile(review: Review, file: FileChange): void {
  review.fold(file, false);
  const draft: Draft = { path: file.path, side: "file", quote: "", text: "" };
  write(draft);
  review.drafts.open(draft);
}

function PathOf(props: { file: FileChange }) {
  return (
    <h2 class="file-path">
      <Show when={props.file.old_path !== props.file.path && props.file.old_path}>
        {(old) => (
          <>
            <span class="mute">
              <Visible text={old()} />
            </span>
            <span aria-hidden="true"> → </span>
            <span class="visually-hidden">, now </span>
          </>
        )}
      </Show>
      <Visible text={props.file.path} />
    </h2>
  );
}

function FileMenu(props: FileViewProps & { onComment(): void }) {
  return (
    <Menu
      label={`About ${visible(props.file.path)}`}
      align="end"
      button={(button) => <IconButton icon="dots" label={`More for ${visible(props.file.path)}`} {...button} />}
    >
      {(close) => (
        <>
          <MenuItem
            icon="comment"
            onChoose={() => {
              close();
              props.onComment();
            }}
          >
            Comment on the file
          </MenuItem>
          <Show when={props.onRevert}>
            {(revert) => (
              <MenuItem
                icon="undo"
                danger
                onChoose={() => {
                  close();
                  revert()();
                }}
              >
                Revert the file
              </MenuItem>
            )}
          </Show>
        </>
      )}
    </Menu>
  );
}

export function ViewedBox(props: { isViewed: boolean; onChange(isViewed: boolean): void }) {
  return (
    <button
      type="button"
      class="viewed-box"
      role="checkbox"
      aria-checked={props.isViewed}
      onClick={() => props.onChange(!props.isViewed)}
    >
      <span class="box" aria-hidden="true">
        <Show when={props.isViewed}>
          <Icon name="check" size="tiny" />
        </Show>
      </span>
      Viewed
    </button>
  );
}

interface FileBodyProps {
  review: Review;
  file: FileChange;
  mode: Mode;
  picking: Picking;
  single?: boolean;
  hit?: number | null;
  /** Comments are written elsewhere. */
  withoutForms?: boolean;
  onRevert?: ((hunk?: number) => void) | undefined;
}

export function FileBody(props: FileBodyProps) {
  const { review } = props;
  const since = () => review.changes()?.since;
  /** Also beneath lines that were shown later. */
  const isInSight = (side: Side, line: number | null | undefined) =>
    props.picking
      .handle()
      ?.rows()
      .some((row) => numberAt(row, side) === line) ?? false;
  const shownAt = (comment: Comment) => {
    if (comment.side === "file" || isInHunks(props.file, comment) || !isInSight(comment.side, comment.to_line))
      return null;
    return { side: comment.side, line: comment.to_line ?? 0 };
  };
  const placed = (comment: Comment) =>
    placeOf(comment, props.file, since()) ??
    (comment.sent_at == null ? null : movedTo(comment, props.file)) ??
    shownAt(comment);
  const all = () => [...review.sentOf(props.file.path), ...review.commentsOf(props.file.path)];
  const above = () => all().filter((comment) => !placed(comment));
  const fresh = () =>
    props.withoutForms ? [] : review.drafts.list.filter((draft) => draft.path === props.file.path && !draft.editing);
  const draftPlace = (draft: Draft) => draft.side !== "file" && isInSight(draft.side, draft.to_line);
  const draftsAbove = () => fresh().filter((draft) => !draftPlace(draft));
  const commentNotes = mapArray(
    () => all().filter((comment) => placed(comment)),
    (comment): Note => ({
      kind: "note",
      get side() {
        return placed(comment)?.side ?? "new";
      },
      get line() {
        return placed(comment)?.line ?? 0;
      },
      content: () => <CommentCard review={review} comment={comment} isPlaced />,
    }),
  );
  const draftNotes = mapArray(
    () => fresh().filter((draft) => draftPlace(draft)),
    (draft): Note => ({
      kind: "note",
      side: draft.side as "old" | "new",
      line: draft.to_line ?? draft.from_line ?? 0,
      content: () => <CommentForm review={review} draft={draft} />,
    }),
  );
  const notes = createMemo(() => [...commentNotes(), ...draftNotes()]);
  const canRevertHunk = () => props.onRevert !== undefined && props.file.hunks.length > 1;
  return (
    <>
      <Show when={above().length + draftsAbove().length > 0}>
        <div class="file-remarks">
          <For each={above()}>{(comment) => <CommentCard review={review} comment={comment} />}</For>
          <For each={draftsAbove()}>{(draft) => <CommentForm review={review} draft={draft} />}</For>
        </div>
      </Show>
      <Switch>
        <Match when={props.file.hunks.length > 0}>
          <DiffTable
            hunks={props.file.hunks}
            mode={props.mode}
            path={props.file.path}
            onShow={showOf(props)}
            notes={notes()}
            picked={props.picking.picked()}
            single={props.single}
            hit={props.hit}
            handle={props.picking.attach}
            hunkActions={
              canRevertHunk()
                ? (hunk) => (
                    <button
                      type="button"
                      aria-label={`Revert change ${hunk + 1}`}
                      onClick={() => props.onRevert?.(hunk)}
                    >
                      Revert
                    </button>
                  )
                : undefined
            }
          />
        </Match>
        <Match when={!props.file.binary && props.file.additions + props.file.deletions > 0}>
          <LeftOut review={review} file={props.file} />
        </Match>
        <Match when={shownPicture(props)} keyed>
          {(_digest) => <PictureDiff file={props.file} url={(side) => pictureUrl(props, side)} />}
        </Match>
        <Match when={true}>
          <p class="file-words">{withoutLines(props.file)}</p>
        </Match>
      </Switch>
    </>
  );
}

/** Another one when it is another image. */
function shownPicture({ review, file }: FileBodyProps): string | undefined {
  return file.binary && isPicture(file.path) && review.source.picture ? file.digest : undefined;
}

function pictureUrl({ review, file }: FileBodyProps, side: Side): string {
  return review.source.picture?.(review.changes()?.since ?? "head", file.path, side) ?? "";
}

function showOf(props: FileBodyProps) {
  const { lines } = props.review.source;
  const known = props.review.changes();
  if (!lines || !known || props.file.status === "deleted") return undefined;
  return (from: number, to: number) => lines(known.since, props.file.path, from, to);
}

/** Lines that the server left out: by its own choice when the file is large, else because there was so much before it. */
function LeftOut(props: { review: Review; file: FileChange }) {
  const [isBusy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<string | null>(null);
  const load = () => {
    setBusy(true);
    setError(null);
    props.review.loadFile(props.file.path).catch((reason) => {
      setBusy(false);
      setError(sentence(reason));
    });
  };
  onMount(() => {
    if (!props.file.too_large && props.review.source.file) load();
  });
  return (
    <div class="file-words">
      <Show when={error()} fallback={<span>{isBusy() ? "Loading the lines…" : "Too large to show at once."}</span>}>
        {(text) => <span role="alert">{text()}</span>}
      </Show>
      <Show when={props.review.source.file && !isBusy()}>
        <Button small onClick={load}>
          {error() ? "Try again" : "Show anyway"}
        </Button>
      </Show>
    </div>
  );
}
