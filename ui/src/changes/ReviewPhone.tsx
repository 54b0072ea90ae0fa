import { createEffect, createMemo, createSignal, For, on, onCleanup, onMount, Show } from "solid-js";
import type { FileChange } from "../api/types";
import { Button, IconButton } from "../kit/Button";
import { Dialog } from "../kit/Dialog";
import { Icon } from "../kit/Icon";
import { Menu } from "../kit/Menu";
import { MenuItem } from "../kit/MenuList";
import { PlusMinus } from "../kit/small";
import { watchSwipes } from "../kit/swipe";
import { Visible } from "../kit/Visible";
import { visible } from "../state/visible";
import { CommentForm } from "./Comments";
import { comment, commentOnFile, createFilePicking, FileBody } from "./FileView";
import { isTalkedAbout, Meanwhile, Writers } from "./Meanwhile";
import type { ReviewLook } from "./ReviewDesk";
import type { Review } from "./review";
import { SinceMenu } from "./SinceMenu";
import { StaleNote } from "./StaleNote";
import { States } from "./States";
import { splitPath } from "./tree";
import { emptyWords, meanwhile_title, statusWord } from "./words";

/** More of them than this would be too thin to see. */
const max_bars = 24;

/** The review on a phone: a file a page. */
export function ReviewPhone(props: ReviewLook) {
  let page!: HTMLElement;
  const { review } = props;
  const files = review.files;
  const [path, setPath] = createSignal<string | null>(null);
  const at = () =>
    Math.max(
      0,
      files().findIndex((file) => file.path === path()),
    );
  const other = () => review.meanwhile().find((one) => one.path === path());
  const file = () => other() ?? files()[at()];
  // Opens at the one that was asked for, else at the first that was not looked at.
  createEffect(() => {
    if (path() !== null || files().length === 0) return;
    const first = files().find((one) => one.path === props.firstFile) ?? files().find((one) => !review.isViewed(one));
    setPath((first ?? files()[0])?.path ?? null);
  });
  const go = (to: number) => {
    const next = files()[to];
    if (next) setPath(next.path);
  };
  onMount(() => onCleanup(watchSwipes(page, { isOn: () => files().length > 1, onSwipe: (by) => go(at() + by) })));
  const isLast = () => at() === files().length - 1;
  const viewed = () => {
    const here = file();
    if (!here) return;
    review.setViewed(here, true);
    if (other()) setPath(files()[0]?.path ?? null);
    else if (isLast()) props.onSend();
    else go(at() + 1);
  };
  return (
    <section ref={page} class="review-page phone" aria-label="Review">
      <header class="review-head">
        <IconButton icon="close" label="Close" onClick={() => props.onClose()} />
        <Show when={file()} fallback={<h1 class="grow">Changes</h1>}>
          {(here) => <FileChoice {...props} file={here()} onChoose={setPath} />}
        </Show>
        <Button kind="quiet" class="review-send" disabled={!review.changes()} onClick={() => props.onSend()}>
          Send{review.comments().length > 0 ? ` ${review.comments().length}` : ""}
        </Button>
      </header>
      <Bars review={review} at={at()} />
      <div class="review-line mute">
        <Show when={other()}>
          <span>{meanwhile_title}</span>
        </Show>
        <Show when={files().length > 0 && !other()}>
          <span class="num">
            {at() + 1} of {files().length}
          </span>
        </Show>
        <SinceMenu review={review} />
        <span class="grow" />
        <StaleNote review={review} />
        <Show when={files().length > 1 && !review.isStale()}>
          <span>Swipe for the next file</span>
        </Show>
      </div>
      <div class="review-main">
        <States review={review}>
          <Show when={file()?.path} keyed fallback={<Others review={review} onChoose={setPath} />}>
            {(key) => (
              <FilePage
                {...props}
                file={files().find((one) => one.path === key) ?? (file() as FileChange)}
                onRevert={other() ? undefined : props.onRevert}
              />
            )}
          </Show>
        </States>
      </div>
      <Show when={file()}>
        {(here) => (
          <footer class="review-foot">
            <Button icon="comment" onClick={() => commentOnFile(review, here())}>
              Comment
            </Button>
            <Button kind="main" class="grow" onClick={viewed}>
              {other() ? "Viewed" : isLast() ? "Viewed, send review" : "Viewed, next file"}
            </Button>
          </footer>
        )}
      </Show>
    </section>
  );
}

/** Where the session itself has changed nothing: what changed meanwhile. */
function Others(props: { review: Review; onChoose(path: string): void }) {
  const [isOpen, setOpen] = createSignal(false);
  const isTalked = createMemo(() => isTalkedAbout(props.review));
  createEffect(() => isTalked() && setOpen(true));
  return (
    <>
      <Show when={props.review.changes()}>{(known) => <p class="file-words">{emptyWords(known()).title}.</p>}</Show>
      <Meanwhile files={props.review.meanwhile()} isOpen={isOpen()} onOpen={setOpen}>
        <ul>
          <For each={props.review.meanwhile()}>
            {(file) => (
              <li>
                <button type="button" class="tree-file" onClick={() => props.onChoose(file.path)}>
                  <Icon name="file" size="small" />
                  <span class="cut grow">
                    <Visible text={file.path} />
                  </span>
                  <Writers file={file} />
                  <PlusMinus additions={file.additions} deletions={file.deletions} />
                </button>
              </li>
            )}
          </For>
        </ul>
      </Meanwhile>
    </>
  );
}

function FileChoice(props: ReviewLook & { file: FileChange; onChoose(path: string): void }) {
  const name = () => splitPath(props.file.path);
  const isOther = (file: FileChange) => props.review.meanwhile().some(({ path }) => path === file.path);
  return (
    <Menu
      label="Files"
      button={(button) => (
        <button type="button" class="review-title grow" {...button}>
          <h1 class="cut">
            <Visible text={name().name} />
          </h1>
          <span class="mute cut">
            <Show when={name().folder}>
              <Visible text={name().folder} /> ·{" "}
            </Show>
            <Show when={statusWord(props.file)}>{(word) => <>{word()} </>}</Show>
            <PlusMinus additions={props.file.additions} deletions={props.file.deletions} />
          </span>
        </button>
      )}
    >
      {(close) => (
        <>
          <For each={[...props.review.files(), ...props.review.meanwhile()]}>
            {(file) => (
              <MenuItem
                icon={props.review.isViewed(file) ? "check" : "file"}
                chosen={file.path === props.file.path}
                note={isOther(file) ? meanwhile_title : undefined}
                onChoose={() => {
                  close();
                  props.onChoose(file.path);
                }}
              >
                {visible(file.path)}
              </MenuItem>
            )}
          </For>
          <hr />
          <Show when={!isOther(props.file) && props.onRevert}>
            {(revert) => (
              <MenuItem
                icon="undo"
                danger
                onChoose={() => {
                  close();
                  revert()(props.file);
                }}
              >
                Revert this file
              </MenuItem>
            )}
          </Show>
          <Show when={props.onCommit}>
            {(commit) => (
              <MenuItem
                icon="commit"
                onChoose={() => {
                  close();
                  commit()();
                }}
              >
                Commit…
              </MenuItem>
            )}
          </Show>
        </>
      )}
    </Menu>
  );
}

function Bars(props: { review: Review; at: number }) {
  const files = props.review.files;
  const bars = createMemo(() => {
    const count = Math.min(files().length, max_bars);
    return Array.from({ length: count }, (_, index) => Math.floor((index * files().length) / Math.max(1, count)));
  });
  const state = (index: number, next: number) => {
    if (props.at >= index && props.at < next) return "here";
    const file = files()[index];
    return file && props.review.isViewed(file) ? "done" : "";
  };
  return (
    <div class="review-bars" role="img" aria-label={`File ${props.at + 1} of ${files().length}`}>
      <For each={bars()}>{(index, at) => <span class={state(index, bars()[at() + 1] ?? files().length)} />}</For>
    </div>
  );
}

/** One file. A tap on a line opens a sheet to comment on it. */
function FilePage(props: ReviewLook & { file: FileChange }) {
  let scroller!: HTMLDivElement;
  const picking = createFilePicking({
    get review() {
      return props.review;
    },
    get file() {
      return props.file;
    },
    mode: "narrow",
  });
  const draft = () => props.review.drafts.list.find((one) => one.path === props.file.path && one.editing === undefined);
  const [isOpen, setOpen] = createSignal(draft() !== undefined);
  createEffect(
    on(
      () => props.review.drafts.list.length,
      (now, before) => now > (before ?? 0) && setOpen(true),
      { defer: true },
    ),
  );
  const reach = (by: number) => {
    const here = draft();
    if (here?.to_line == null || here.side === "file") return;
    const side = here.side;
    const from = here.from_line ?? here.to_line;
    props.review.drafts.close(here);
    comment(props.review, props.file, { side, from, to: Math.max(from, here.to_line + by) }, picking, here.text);
  };
  return (
    <div ref={scroller} class="review-sheet" tabindex="-1">
      <FileBody
        review={props.review}
        file={props.file}
        mode="narrow"
        picking={picking}
        withoutForms
        onRevert={props.onRevert && ((hunk) => props.onRevert?.(props.file, hunk))}
      />
      <Show when={isOpen() && draft()} keyed>
        {(one) => (
          <Dialog title="Comment" class="comment-sheet" onClose={() => setOpen(false)}>
            <Show when={one.quote}>
              {(quote) => (
                <pre class="remark-quote">
                  <Visible text={quote()} />
                </pre>
              )}
            </Show>
            <Show when={one.side !== "file"}>
              <div class="reach">
                <Button small disabled={one.from_line === one.to_line} onClick={() => reach(-1)}>
                  <span aria-hidden="true">−</span> One line less
                </Button>
                <Button small onClick={() => reach(1)}>
                  <Icon name="plus" size="small" /> One line more
                </Button>
              </div>
            </Show>
            <CommentForm review={props.review} draft={one} onDone={() => setOpen(false)} />
          </Dialog>
        )}
      </Show>
    </div>
  );
}
