import { Button } from "../kit/Button";
import { Icon } from "../kit/Icon";

/** Says that what is in the composer was sent before. */
export function ResendBar(props: { onCancel(): void }) {
  return (
    <div class="banner resend-bar" role="status">
      <Icon name="edit" />
      <span class="grow">Editing a message you sent. It goes out as a new message; the original stays.</span>
      <Button small kind="quiet" onClick={() => props.onCancel()}>
        Cancel
      </Button>
    </div>
  );
}
