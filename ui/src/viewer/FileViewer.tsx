import { createEffect, createMemo, createSignal, Match, on, onCleanup, onMount, Show, Switch } from "solid-js";
import { Dynamic } from "solid-js/web";
import { filesApi } from "../api/files";
import type { FileView } from "../api/types";
import { coverPane } from "../changes/cover";
import { createFilePicking, FileBody } from "../changes/FileView";
import { createMedia, phone_query } from "../changes/look";
import { ReviewDialogs } from "../changes/ReviewDialogs";
import { createReview } from "../changes/review";
import { numberAt } from "../changes/rows";
import { changesNews } from "../changes/summary";
import { splitPath } from "../changes/tree";
import { Button, IconButton } from "../kit/Button";
import { CopyButton } from "../kit/CopyButton";
import { Icon } from "../kit/Icon";
import { Spinner } from "../kit/Spinner";
import { Tag } from "../kit/small";
import { Visible } from "../kit/Visible";
import { focusConversation } from "../shell/keyboard";
import { formatSize } from "../state/attachments";
import { visible } from "../state/visible";
import { fileHref } from "./place";
import { fileSource, linesOf } from "./source";
import "../changes/review.css";
import "./viewer.css";

interface FileViewerProps {
  sessionId: string;
  path: string;
  line: number | null;
  onClose(): void;
}

/** The link that opened the viewer gets focus back. */
let opener: HTMLElement | null = null;

/** A file of the work directory, to be read and commented on; nothing is written here. */
export function FileViewer(props: FileViewerProps) {
  let panel!: HTMLElement;
  let sheet!: HTMLDivElement;
  const { sessionId: session, path } = props;
  const [view, setView] = createSignal<FileView>();
  const [isSending, setSending] = createSignal(false);
  const isPhone = createMedia(phone_query);
  const review = createReview(fileSource(session, path, setView), { of: changesNews, isTold: false });
  const file = () => review.files()[0];
  const count = createMemo(() => linesOf(view()?.text ?? "").length);
  const picking = createFilePicking({
    review,
    get file() {
      return file() as NonNullable<ReturnType<typeof file>>;
    },
    get mode() {
      return isPhone() ? ("narrow" as const) : ("unified" as const);
    },
  });
  const name = () => splitPath(view()?.path ?? path);
  const pending = () => review.comments().length;

  const focused = document.activeElement;
  if (focused instanceof HTMLAnchorElement && !focused.closest(".file-viewer")) opener = focused;
  const close = () => {
    const href = fileHref(session, { path, line: props.line });
    props.onClose();
    const link = opener?.isConnected ? opener : document.querySelector<HTMLElement>(`a[href="${CSS.escape(href)}"]`);
    opener = null;
    if (link) link.focus({ preventScroll: true });
    else focusConversation();
  };
  /** Without a line, or with one that the file does not have, reading begins at the top. */
  const toLine = (line: number | null) => {
    const table = picking.handle();
    const row = line === null ? undefined : table?.rows().find((one) => numberAt(one, "new") === line);
    if (table && row) table.focus(row);
    else sheet.focus({ preventScroll: true });
  };
  createEffect(on([picking.handle, () => props.line], ([, line]) => queueMicrotask(() => toLine(line))));
  onMount(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open], .menu")) return;
      const at = event.target as Element;
      // Who writes in the composer has an Escape of their own.
      if (at !== document.body && !panel.contains(at)) return;
      event.preventDefault();
      event.stopPropagation();
      close();
    };
    // Before the keys of the page: the second of two Escapes would stop the turn there.
    document.addEventListener("keydown", listen);
    const uncover = coverPane(panel);
    onCleanup(() => {
      uncover();
      document.removeEventListener("keydown", listen);
    });
  });
  const place = () => {
    const { line } = props;
    const lines = count() === 1 ? "1 line" : `${count().toLocaleString("en")} lines`;
    if (line === null) return lines;
    return line > count() ? `Line ${line} is past the end · ${lines}` : `Line ${line} · ${lines}`;
  };
  return (
    <aside
      ref={panel}
      class="changes-panel file-viewer"
      tabindex="-1"
      aria-label={`File ${visible(view()?.path ?? path)}`}
    >
      <header class="panel-head">
        <Show when={isPhone()} fallback={<Icon name="file" />}>
          <IconButton icon="back" label="Back to the conversation" onClick={close} />
        </Show>
        <Dynamic component={isPhone() ? "h1" : "h2"} class="file-path cut">
          <Show
            when={isPhone()}
            fallback={
              <>
                <Show when={name().folder}>
                  <span class="mute">
                    <Visible text={`${name().folder}/`} />
                  </span>
                </Show>
                <Visible text={name().name} />
              </>
            }
          >
            <Visible text={name().name} />
            <small class="mute cut">
              <Visible text={name().folder ? `${name().folder} · read only` : "read only"} />
            </small>
          </Show>
        </Dynamic>
        <Show when={!isPhone()}>
          <Tag>read only</Tag>
        </Show>
        <span class="grow" />
        <CopyButton text={() => view()?.path ?? path} label="Copy the path" />
        <Show when={!isPhone()}>
          <IconButton icon="close" label="Close the file" onClick={close} />
        </Show>
      </header>
      <Show when={view()?.kind === "text" && count() > 0}>
        <p class="file-line mute num">{place()}</p>
      </Show>
      <div ref={sheet} class="review-sheet" role="group" aria-label="Lines" tabindex="0">
        <Switch
          fallback={
            <p class="review-state" role="status">
              <Spinner /> Opening the file…
            </p>
          }
        >
          <Match when={review.error()}>
            {(text) => (
              <div class="review-state">
                <p role="alert">{text()}</p>
                <Button small onClick={() => void review.refresh()}>
                  Try again
                </Button>
              </div>
            )}
          </Match>
          <Match when={view()?.kind === "image" && view()}>
            {(image) => (
              <figure class="file-picture">
                <img src={filesApi.pictureUrl(session, path)} alt={visible(image().path)} />
                <figcaption class="mute">{formatSize(image().size)}</figcaption>
              </figure>
            )}
          </Match>
          <Match when={view()?.kind === "binary" && view()}>
            {(binary) => <p class="review-state">Binary file, {formatSize(binary().size)}. No lines to show.</p>}
          </Match>
          <Match when={view()?.kind === "too_large" && view()}>
            {(large) => <p class="review-state">Too large to show: the file has {formatSize(large().size)}.</p>}
          </Match>
          <Match when={view() && count() === 0}>
            <p class="review-state">An empty file.</p>
          </Match>
          <Match when={view() && file()}>
            {(shown) => (
              <FileBody
                review={review}
                file={shown()}
                mode={isPhone() ? "narrow" : "unified"}
                picking={picking}
                single
                hit={props.line}
              />
            )}
          </Match>
        </Switch>
      </div>
      <Show when={pending() > 0}>
        <footer class="panel-foot">
          <span class="grow" />
          <Button small kind="main" onClick={() => setSending(true)}>
            Send review <span class="num">{pending()}</span>
          </Button>
        </footer>
      </Show>
      <ReviewDialogs
        review={review}
        wish={isSending() ? "send" : null}
        commitIn={session}
        onClose={() => setSending(false)}
        onSent={() => {
          setSending(false);
          void review.refresh();
        }}
      />
    </aside>
  );
}
