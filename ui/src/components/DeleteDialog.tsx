import { onMount } from "solid-js";
import { Visible } from "./Visible";

interface DeleteDialogProps {
  title: string;
  onConfirm(): void;
  onCancel(): void;
}

export function DeleteDialog(props: DeleteDialogProps) {
  let dialog: HTMLDialogElement | undefined;
  onMount(() => dialog?.showModal());
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="delete-title" onClose={() => props.onCancel()}>
      <h2 id="delete-title">
        Delete “<Visible text={props.title || "Untitled"} />
        ”?
      </h2>
      <p>Its messages, its agents’ sessions and everything stored with them go too. Files in the work folder stay.</p>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={() => dialog?.close()}>
          Keep it
        </button>
        <button type="button" class="button danger" onClick={() => props.onConfirm()}>
          Delete
        </button>
      </div>
    </dialog>
  );
}
