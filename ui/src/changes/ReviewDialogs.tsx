import { Match, Switch } from "solid-js";
import { CommitDialog } from "./CommitDialog";
import { RevertDialog, type Reverting } from "./RevertDialog";
import type { Review } from "./review";
import { SendReview } from "./SendReview";

/** What somebody wants to do with a review: the dialog of it is open. */
export type Wish = "send" | "commit" | Reverting;

interface ReviewDialogsProps {
  review: Review;
  wish: Wish | null;
  /** The session whose work is committed. */
  commitIn: string | undefined;
  onClose(): void;
  onSent(): void;
}

export function ReviewDialogs(props: ReviewDialogsProps) {
  const reverting = () => (typeof props.wish === "object" ? props.wish : null);
  return (
    <Switch>
      <Match when={props.wish === "send"}>
        <SendReview review={props.review} onClose={() => props.onClose()} onSent={() => props.onSent()} />
      </Match>
      <Match when={props.wish === "commit" && props.commitIn}>
        {(id) => (
          <CommitDialog
            sessionId={id()}
            onClose={() => props.onClose()}
            onDone={() => {
              props.onClose();
              void props.review.refresh();
            }}
          />
        )}
      </Match>
      <Match when={reverting()} keyed>
        {(what) => <RevertDialog review={props.review} what={what} onClose={() => props.onClose()} />}
      </Match>
    </Switch>
  );
}
