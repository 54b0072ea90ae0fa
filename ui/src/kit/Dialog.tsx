import { createUniqueId, type JSX, onCleanup, onMount, Show } from "solid-js";
import { IconButton } from "./Button";
import { shieldPress } from "./deliberate";

interface DialogProps {
  title: string;
  wide?: boolean;
  class?: string;
  /** Beside the title. */
  actions?: JSX.Element;
  foot?: JSX.Element;
  /** Once it is on the screen; returns what ends with it. */
  onShown?(dialog: HTMLDialogElement): () => void;
  children: JSX.Element;
  onClose(): void;
}

/** A card over the page; a sheet from below on a phone. Escape and a press beside it close it, and focus goes back where it was. */
export function Dialog(props: DialogProps) {
  let dialog!: HTMLDialogElement;
  const id = createUniqueId();
  const before = document.activeElement;
  let stop: (() => void) | undefined;
  onMount(() => {
    dialog.showModal?.();
    stop = props.onShown?.(dialog);
  });
  onCleanup(() => {
    stop?.();
    // A second press falls on what was beneath it.
    shieldPress();
    // What lies beneath an open dialog takes no focus.
    dialog.close?.();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  });
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same, by the browser
    <dialog
      ref={dialog}
      class={["dialog", props.wide && "wide", props.class].filter(Boolean).join(" ")}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onClick={(event) => event.target === dialog && props.onClose()}
    >
      <div class="dialog-head">
        <h2 id={id}>{props.title}</h2>
        {props.actions}
        <IconButton icon="close" label="Close" onClick={() => props.onClose()} />
      </div>
      <div class="dialog-body">{props.children}</div>
      <Show when={props.foot}>
        <div class="dialog-foot">{props.foot}</div>
      </Show>
    </dialog>
  );
}
