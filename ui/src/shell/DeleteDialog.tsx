import { createSignal } from "solid-js";
import { Button } from "../kit/Button";
import { Dialog } from "../kit/Dialog";
import { Visible } from "../kit/Visible";
import { chooseRecords } from "../state/records";

interface DeleteDialogProps {
  title: string;
  /** The agents that can delete their own records. */
  keepers: string[];
  onDelete(): void;
  onClose(): void;
}

/** Asked once: an agent may keep a copy of the session, from which it could be continued elsewhere. */
export function DeleteDialog(props: DeleteDialogProps) {
  const [withRecords, setWithRecords] = createSignal(true);
  const remove = () => {
    chooseRecords(withRecords() ? "delete" : "keep");
    props.onDelete();
  };
  return (
    <Dialog
      title="Delete this session?"
      onClose={() => props.onClose()}
      foot={
        <>
          <Button kind="quiet" onClick={() => props.onClose()}>
            Cancel
          </Button>
          <Button kind="deny" onClick={remove}>
            Delete
          </Button>
        </>
      }
    >
      <p>
        “<Visible text={props.title} />” and its conversation are deleted. You can undo this for a few seconds.
      </p>
      <label class="check">
        <input
          type="checkbox"
          checked={withRecords()}
          onChange={(event) => setWithRecords(event.currentTarget.checked)}
        />
        <span>Also delete the agent’s own record</span>
      </label>
      <p class="soft">
        {list.format(props.keepers)} keeps its own record. If you leave it, you can still resume the session from there.
        You are asked once; you can change the answer in Settings.
      </p>
    </Dialog>
  );
}

const list = new Intl.ListFormat("en");
