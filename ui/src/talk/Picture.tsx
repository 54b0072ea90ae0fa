import { Dialog } from "../kit/Dialog";
import { Icon } from "../kit/Icon";
import { visible } from "../state/visible";

/** A picture of the conversation, as large as the window has room for. */
export function Picture(props: { name: string; url: string; onClose: () => void }) {
  return (
    <Dialog
      wide
      class="picture-dialog"
      title={visible(props.name)}
      actions={
        <a class="button small" href={props.url} download={props.name}>
          <Icon name="download" /> Download
        </a>
      }
      onClose={props.onClose}
    >
      <img src={props.url} alt={visible(props.name)} />
    </Dialog>
  );
}
