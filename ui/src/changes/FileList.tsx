import { createEffect, createMemo, createSignal, For, on, onCleanup, onMount, Show } from "solid-js";
import type { FileChange } from "../api/types";
import { Banner } from "../kit/small";
import { CommentCard } from "./Comments";
import { comment, commentOnFile, type FileHandle, FileView } from "./FileView";
import { watchKeys } from "./keys";
import { isTalkedAbout, Meanwhile, Writers } from "./Meanwhile";
import { Near } from "./near";
import { placeOfRow } from "./picking";
import type { Review } from "./review";
import { changeStarts, type Mode, type Row } from "./rows";
import { emptyWords } from "./words";

export interface ListHandle {
  open(path: string): void;
}

interface FileListProps {
  review: Review;
  mode: Mode;
  isFull?: boolean;
  onRevert?: ((file: FileChange, hunk?: number) => void) | undefined;
  /** Which file is being read. */
  onCurrent?: (path: string) => void;
  onSend?: () => void;
  handle?: (handle: ListHandle) => void;
}

const head_px = 42;
const row_px = 20;
/** What lies this far under the top edge is what is read. */
const reading_px = 60;

/** All the files, one after the other. Keys go through them where it is the full review. */
export function FileList(props: FileListProps) {
  let sheet!: HTMLDivElement;
  const { review } = props;
  const handles = new Map<string, FileHandle>();
  const [isMeanwhileOpen, setMeanwhileOpen] = createSignal(false);
  const isTalked = createMemo(() => isTalkedAbout(review));
  createEffect(() => isTalked() && setMeanwhileOpen(true));
  const own = createMemo(() => review.files().map((file) => file.path));
  const meanwhile = createMemo(() => review.meanwhile().map((file) => file.path));
  const others = createMemo(() => new Map(review.meanwhile().map((file) => [file.path, file])));
  /** Those that one goes through. */
  const paths = createMemo(() => (isMeanwhileOpen() ? [...own(), ...meanwhile()] : own()));
  const byPath = createMemo(
    () => new Map<string, FileChange>([...others(), ...review.files().map((file) => [file.path, file] as const)]),
  );
  const [current, setCurrent] = createSignal<string | null>(null);
  const orphans = () => [...review.sent(), ...review.comments()].filter((one) => !byPath().has(one.path));
  const at = () => Math.max(0, paths().indexOf(current() ?? ""));
  const currentFile = () => byPath().get(paths()[at()] ?? "");
  createEffect(on(current, (path) => path !== null && props.onCurrent?.(path), { defer: true }));
  createEffect(() => {
    if (current() === null && paths()[0] !== undefined) setCurrent(paths()[0] ?? null);
  });

  const placeOf = (path: string) => sheet.querySelector<HTMLElement>(`[data-place="${CSS.escape(path)}"]`);
  /** A jump is not a scroll: what was jumped to is current, even where it cannot reach the top. */
  let isJumping = false;
  const open = (path: string) => {
    isJumping = true;
    if (others().has(path)) setMeanwhileOpen(true);
    setCurrent(path);
    placeOf(path)?.scrollIntoView({ block: "start" });
    requestAnimationFrame(() => requestAnimationFrame(() => (isJumping = false)));
  };
  const step = (by: number) => {
    const path = paths()[Math.min(paths().length - 1, Math.max(0, at() + by))];
    if (path !== undefined) open(path);
  };
  const setViewed = (file: FileChange, isViewed: boolean) => {
    const next = paths()[paths().indexOf(file.path) + 1];
    review.setViewed(file, isViewed);
    if (isViewed && props.isFull && next !== undefined) open(next);
  };
  const change = (by: 1 | -1) => {
    for (let index = at(); index >= 0 && index < paths().length; index += by) {
      const file = byPath().get(paths()[index] ?? "");
      if (!file || review.isFolded(file)) continue;
      // It is put together when it is current.
      if (index !== at()) open(file.path);
      const table = handles.get(file.path)?.picking.handle();
      const found = table && nextChange(changeStarts(table.rows()), table.rows(), table.focused(), by);
      if (found) return table.focus(found);
    }
  };
  const remark = () => {
    const file = currentFile();
    if (!file) return;
    const picking = handles.get(file.path)?.picking;
    const row = picking?.handle()?.focused();
    const place = row && placeOfRow(row);
    const range = picking?.picked() ?? (place ? { side: place.side, from: place.line, to: place.line } : null);
    if (picking && range) {
      comment(review, file, range, picking);
      picking.clear();
    } else commentOnFile(review, file);
  };
  const follow = () => {
    if (isJumping) return;
    const edge = sheet.getBoundingClientRect().top + reading_px;
    const places = [...sheet.querySelectorAll<HTMLElement>("[data-place]")];
    let [low, high] = [0, places.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[middle]?.getBoundingClientRect().bottom ?? 0) > edge) high = middle;
      else low = middle + 1;
    }
    const path = places[low]?.dataset.place;
    if (path !== undefined) setCurrent(path);
  };
  onMount(() => {
    props.handle?.({ open });
    let frame = 0;
    sheet.addEventListener("scroll", () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(follow);
    });
    onCleanup(() => cancelAnimationFrame(frame));
    if (!props.isFull) return;
    const viewed = () => {
      const file = currentFile();
      if (file) setViewed(file, !review.isViewed(file));
    };
    onCleanup(watchKeys({ file: step, change, viewed, comment: remark, send: () => props.onSend?.() }));
  });
  const place = (path: string, onRevert?: (file: FileChange, hunk?: number) => void) => {
    const file = () => byPath().get(path) as FileChange;
    return (
      <div class="file-place" data-place={path}>
        <Show when={others().get(path)}>{(other) => <Writers file={other()} />}</Show>
        <Near estimate_px={estimate(review, file())} always={current() === path}>
          <FileView
            review={review}
            file={file()}
            mode={props.mode}
            isFull={props.isFull ?? false}
            handles={handles}
            onViewed={(isViewed) => setViewed(file(), isViewed)}
            onRevert={onRevert && ((hunk) => onRevert(file(), hunk))}
          />
        </Near>
      </div>
    );
  };
  return (
    <div ref={sheet} class="review-sheet" tabindex="-1">
      <Show when={own().length === 0 && meanwhile().length > 0 && review.changes()}>
        {(known) => <p class="file-words">{emptyWords(known()).title}.</p>}
      </Show>
      <For each={own()}>{(path) => place(path, props.onRevert)}</For>
      <Show when={meanwhile().length > 0}>
        <Meanwhile files={review.meanwhile()} isOpen={isMeanwhileOpen()} onOpen={setMeanwhileOpen}>
          <For each={meanwhile()}>{(path) => place(path)}</For>
        </Meanwhile>
      </Show>
      <Show when={(review.changes()?.total_files ?? 0) > own().length}>
        <Banner icon="info">Too many files changed to list them all. The list starts with the first by name.</Banner>
      </Show>
      <Show when={orphans().length > 0}>
        <section class="file-remarks orphans" aria-label="Comments on files that are not listed">
          <p class="soft">Comments on files without changes in this view:</p>
          <For each={orphans()}>
            {(one) => (
              <div>
                <code>{one.path}</code>
                <CommentCard review={review} comment={one} />
              </div>
            )}
          </For>
        </section>
      </Show>
    </div>
  );
}

function nextChange(starts: Row[], rows: Row[], focused: Row | null, by: 1 | -1): Row | undefined {
  if (!focused) return by === 1 ? starts[0] : starts.at(-1);
  const here = rows.indexOf(focused);
  return by === 1 ? starts.find((row) => rows.indexOf(row) > here) : starts.findLast((row) => rows.indexOf(row) < here);
}

function estimate(review: Review, file: FileChange): number {
  if (review.isFolded(file)) return head_px;
  return head_px + file.hunks.reduce((sum, hunk) => sum + hunk.lines.length * row_px + 28, 0);
}
