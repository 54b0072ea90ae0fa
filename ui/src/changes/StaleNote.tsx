import { Show } from "solid-js";
import { Button } from "../kit/Button";
import type { Review } from "./review";

/** Says that the files have changed since they were read, and leaves it to the reader when to look. */
export function StaleNote(props: { review: Review }) {
  return (
    <span role="status" class="stale-note">
      <Show when={props.review.isStale()}>
        <span class="soft">Changed since</span>
        <Button small disabled={props.review.isLoading()} onClick={() => void props.review.refresh()}>
          Reload
        </Button>
      </Show>
    </span>
  );
}
