import { createSignal, getOwner, type JSX, onCleanup, onMount, runWithOwner, Show } from "solid-js";
import type { NewAttachment } from "../api/types";
import { IconButton } from "../kit/Button";
import { Icon } from "../kit/Icon";
import { insist, later } from "../kit/later";
import { watch_only, watchesOnly } from "../state/device";
import { keepFiles, readFiles } from "../state/files";
import { readStored, store } from "../state/storage";
import type { Completion } from "./createCompletion";
import { createDraftFiles } from "./createDraftFiles";
import { composerId } from "./keyboard";

const DraftAttachments = later(async () => (await import("./Attachments")).DraftAttachments);
const Completions = later(async () => (await import("./Completions")).Completions);

interface ComposerProps {
  /** Under which name the unsent text is kept. */
  draftKey: string;
  running: boolean;
  stopping: boolean;
  /** The session whose files and commands are suggested. */
  sessionId?: string;
  /** A person talks straight to an agent, which has commands of its own. */
  isRelay?: boolean;
  /** The title of the agent that would get them and takes no images. */
  imagesRefusedBy?: string | undefined;
  /** What one might say here. */
  placeholder: string;
  /** What the message goes to and how. */
  pills?: JSX.Element;
  /** Beside the button that sends. */
  meter?: JSX.Element;
  onSend(content: string, attachments: NewAttachment[]): void;
  onStop(): void;
  /** Up, where nothing is written. */
  onUp?(): void;
}

/** Ten lines and the space around them. */
const tallest_px = 260;
/** What browsers report for a key that an input method is still working on. */
const composing_key_code = 229;
const suggestionsId = "suggestions";

export const draftName = (draftKey: string) => `draft.${draftKey}`;

/** What was chosen for the session that is being written, kept as its text is. */
export const choices_name = "new.choices";

/** Puts a text behind what was written and not sent; a composer that is there does not see it. */
export function addToDraft(draftKey: string, content: string): void {
  const before = readStored(draftName(draftKey))?.trimEnd();
  store(draftName(draftKey), before ? `${before}\n\n${content}` : content);
}

/** The same for files. */
export async function addToDraftFiles(draftKey: string, files: NewAttachment[]): Promise<void> {
  if (files.length > 0) await keepFiles(draftName(draftKey), [...(await readFiles(draftName(draftKey))), ...files]);
}

export function Composer(props: ComposerProps) {
  const draft = () => draftName(props.draftKey);
  const [text, setText] = createSignal(readStored(draft()) ?? "");
  const files = createDraftFiles(draft, () => props.imagesRefusedBy);
  let input!: HTMLTextAreaElement;
  let picker!: HTMLInputElement;
  let camera!: HTMLInputElement;

  const grow = () => {
    input.style.height = "auto";
    input.style.height = `${Math.min(input.scrollHeight, tallest_px)}px`;
  };
  const write = (value: string) => {
    setText(value);
    store(draft(), value);
    grow();
  };
  const [suggestions, setSuggestions] = createSignal<Completion | null>(null);
  const suggested = () => suggestions()?.items() ?? [];
  const owner = getOwner();
  let isLoading = false;
  const loadSuggestions = async () => {
    if (isLoading) return;
    isLoading = true;
    const { createCompletion } = await insist(() => import("./createCompletion"));
    const list = runWithOwner(owner, () =>
      createCompletion({
        sessionId: () => props.sessionId,
        withCommands: () => props.isRelay ?? false,
        onChoose(value, caret) {
          input.value = value;
          write(value);
          input.focus();
          input.setSelectionRange(caret, caret);
          // A directory goes on with what is in it.
          look();
        },
      }),
    );
    setSuggestions(() => list ?? null);
    look();
  };
  const look = () => {
    const list = suggestions();
    if (list) list.look(input.value, input.selectionStart);
    else if (/[@/]/.test(input.value)) void loadSuggestions();
  };
  /** What is to be said; files alone say that they are there. */
  const content = () => text().trim() || aboutFiles(files.items());
  const isReady = () => !watchesOnly() && content() !== "" && files.reading().length === 0 && files.refused() === null;
  const send = () => {
    if (!isReady()) return;
    props.onSend(content(), files.take());
    input.value = "";
    suggestions()?.close();
    write("");
    input.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (suggestions()?.onKey(event)) return event.preventDefault();
    if (event.key === "ArrowUp" && input.value === "" && !event.altKey && !event.shiftKey && props.onUp) {
      event.preventDefault();
      return props.onUp();
    }
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === composing_key_code) return;
    event.preventDefault();
    send();
  };
  const onPaste = (event: ClipboardEvent) => {
    const pasted = [...(event.clipboardData?.files ?? [])];
    if (pasted.length === 0) return;
    event.preventDefault();
    void files.add(pasted);
  };
  const onPicked = (element: HTMLInputElement) => {
    void files.add([...(element.files ?? [])]);
    // The same file can be picked again.
    element.value = "";
    input.focus();
  };
  onMount(() => {
    input.value = text();
    grow();
    const watching = insist(() => import("./drops")).then(({ watchDrops }) =>
      watchDrops((dropped) => void files.add(dropped)),
    );
    onCleanup(() => void watching.then((stop) => stop()));
  });

  return (
    <form
      class="composer"
      classList={{ written: content() !== "" }}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Show when={suggested().length > 0 && suggestions()}>
        {(list) => (
          <Completions
            id={suggestionsId}
            items={list().items()}
            active={list().active()}
            onChoose={(index) => list().choose(index)}
          />
        )}
      </Show>
      <span class="visually-hidden" role="status">
        {suggested().length > 0 ? `${suggested().length} suggestions, use the arrow keys` : ""}
      </span>
      <Show when={files.items().length + files.reading().length > 0}>
        <DraftAttachments items={files.items()} reading={files.reading()} onRemove={files.remove} />
      </Show>
      <Show when={files.error() ?? files.refused()}>
        {(message) => (
          <p class="inline-error composer-error" role="alert">
            {message()}
          </p>
        )}
      </Show>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={(event) => onPicked(event.currentTarget)}
      />
      <input
        ref={camera}
        type="file"
        accept="image/*"
        capture="environment"
        hidden
        aria-label="Photo"
        onChange={(event) => onPicked(event.currentTarget)}
      />
      <textarea
        ref={input}
        id={composerId}
        rows="1"
        aria-label="Message"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={suggested().length > 0 ? suggestionsId : undefined}
        aria-activedescendant={suggested().length > 0 ? `${suggestionsId}-${suggestions()?.active()}` : undefined}
        placeholder={watchesOnly() ? watch_only : props.placeholder}
        disabled={watchesOnly()}
        enterkeyhint="send"
        onInput={(event) => {
          write(event.currentTarget.value);
          look();
        }}
        onClick={look}
        onBlur={() => suggestions()?.close()}
        onPaste={onPaste}
        onKeyDown={onKeyDown}
      />
      <div class="composer-foot">
        <IconButton
          icon="clip"
          label="Attach files"
          title={watchesOnly() ? watch_only : "Attach files"}
          disabled={watchesOnly()}
          onClick={() => picker.click()}
        />
        <Show when={props.imagesRefusedBy === undefined}>
          <IconButton
            class="camera"
            icon="camera"
            label="Take a photo"
            disabled={watchesOnly()}
            // The focus would unfold the one line of a phone's home, and move the button away from under the finger.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => camera.click()}
          />
        </Show>
        {props.pills}
        <span class="composer-end">
          {props.meter}
          <Show when={props.running}>
            <button
              type="button"
              class="round-button stop"
              aria-label={props.stopping ? "Stopping" : "Stop"}
              title={watchesOnly() ? watch_only : "Stop (Esc Esc)"}
              disabled={props.stopping || watchesOnly()}
              onClick={() => props.onStop()}
            />
          </Show>
          {/* While a turn runs it is there as soon as there is something to queue. */}
          <Show when={!props.running || content() !== ""}>
            <button
              type="submit"
              class="round-button send"
              aria-label={props.running ? "Queue" : "Send"}
              title={props.running ? "Add to the queue" : "Send"}
              disabled={!isReady()}
            >
              <Icon name="send" />
            </button>
          </Show>
        </span>
      </div>
    </form>
  );
}

function aboutFiles(files: readonly NewAttachment[]): string {
  const names = files.map((file) => (file.kind === "path" ? file.path : file.name));
  return names.length > 0 ? `Look at ${names.join(", ")}.` : "";
}
