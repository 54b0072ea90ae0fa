import { createSignal, onMount, Show } from "solid-js";
import { readStored, store } from "../state/storage";
import { Icon } from "./Icon";
import { composerId } from "./keyboard";

interface ComposerProps {
  /** Under which name the unsent text is kept. */
  draftKey: string;
  running: boolean;
  stopping: boolean;
  onSend(content: string): void;
  onStop(): void;
}

const tallest_px = 240;
/** What browsers report for a key that an input method is still working on. */
const composing_key_code = 229;

const draftName = (draftKey: string) => `draft.${draftKey}`;

/** Puts a text behind what was written and not sent; a composer that is there does not see it. */
export function addToDraft(draftKey: string, content: string): void {
  const before = readStored(draftName(draftKey))?.trimEnd();
  store(draftName(draftKey), before ? `${before}\n\n${content}` : content);
}

export function Composer(props: ComposerProps) {
  const draft = () => draftName(props.draftKey);
  const [text, setText] = createSignal(readStored(draft()) ?? "");
  let input!: HTMLTextAreaElement;

  const grow = () => {
    input.style.height = "auto";
    input.style.height = `${Math.min(input.scrollHeight, tallest_px)}px`;
  };
  const write = (value: string) => {
    setText(value);
    store(draft(), value);
    grow();
  };
  const send = () => {
    const content = text().trim();
    if (content === "") return;
    props.onSend(content);
    input.value = "";
    write("");
    input.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === composing_key_code) return;
    event.preventDefault();
    send();
  };
  onMount(() => {
    input.value = text();
    grow();
  });

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={input}
        id={composerId}
        rows="1"
        aria-label="Message"
        placeholder={props.running ? "Queue another message…" : "Message VoxPilot…"}
        enterkeyhint="send"
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <Show when={props.running}>
        <button
          type="button"
          class="round-button stop"
          aria-label={props.stopping ? "Stopping" : "Stop"}
          title="Stop the running turn"
          disabled={props.stopping}
          onClick={() => props.onStop()}
        >
          <Icon name="stop" />
        </button>
      </Show>
      <button
        type="submit"
        class="round-button send"
        aria-label={props.running ? "Queue" : "Send"}
        disabled={text().trim() === ""}
      >
        <Icon name="send" />
      </button>
    </form>
  );
}
