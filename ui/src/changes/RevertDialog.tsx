import { Show } from "solid-js";
import type { FileChange } from "../api/types";
import { Button } from "../kit/Button";
import { Dialog } from "../kit/Dialog";
import { InlineError } from "../kit/InlineError";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import type { Review } from "./review";
import { sinceWords } from "./words";

export interface Reverting {
  file: FileChange;
  hunk?: number | undefined;
}

/** Asked first: it changes a file that somebody may be working on. */
export function RevertDialog(props: { review: Review; what: Reverting; onClose(): void }) {
  const { busy, error, submit } = createSubmit();
  const revert = async () => {
    if (await submit(() => props.review.revert(props.what.file, props.what.hunk))) props.onClose();
  };
  const since = () => {
    const changes = props.review.changes();
    return changes ? sinceWords(changes.since, changes.base) : "";
  };
  return (
    <Dialog
      title={props.what.hunk === undefined ? "Revert this file?" : "Revert this change?"}
      onClose={() => props.onClose()}
      foot={
        <>
          <Button kind="quiet" onClick={() => props.onClose()}>
            Cancel
          </Button>
          <Button kind="deny" disabled={busy()} onClick={() => void revert()}>
            Revert
          </Button>
        </>
      }
    >
      <p>
        <code>
          <Visible text={props.what.file.path} />
        </code>{" "}
        <Show
          when={props.what.file.status === "added" && props.what.hunk === undefined}
          fallback={`loses these changes (${since().toLowerCase()}). You can undo this for a few seconds.`}
        >
          is new, so it is deleted. You can undo this for a few seconds.
        </Show>
      </p>
      <InlineError message={error()} />
    </Dialog>
  );
}
