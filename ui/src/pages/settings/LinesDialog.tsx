import { createSignal, createUniqueId } from "solid-js";
import { Button } from "../../kit/Button";
import { Dialog } from "../../kit/Dialog";
import { InlineError } from "../../kit/InlineError";
import { createSubmit } from "../../kit/submit";

interface LinesDialogProps {
  title: string;
  about: string;
  lines: string[];
  isLocked: boolean;
  onSave(text: string): Promise<void>;
  onClose(): void;
}

const rows_min = 4;
const rows_max = 14;

/** A list, one entry on each line. */
export function LinesDialog(props: LinesDialogProps) {
  const { busy, error, submit } = createSubmit();
  const [text, setText] = createSignal(props.lines.join("\n"));
  const id = createUniqueId();
  const save = async () => {
    if (await submit(() => props.onSave(text()))) props.onClose();
  };
  return (
    <Dialog
      title={props.title}
      onClose={() => props.onClose()}
      foot={
        <>
          <Button onClick={() => props.onClose()}>{props.isLocked ? "Close" : "Cancel"}</Button>
          <Button kind="main" disabled={busy() || props.isLocked} onClick={() => void save()}>
            Save
          </Button>
        </>
      }
    >
      <label class="setting-lines" for={id}>
        {props.about} One per line.
      </label>
      <textarea
        id={id}
        class="field"
        rows={Math.min(rows_max, Math.max(rows_min, text().split("\n").length + 1))}
        spellcheck={false}
        readOnly={props.isLocked}
        value={text()}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <InlineError message={error()} />
    </Dialog>
  );
}
