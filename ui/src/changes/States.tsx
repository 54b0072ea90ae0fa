import { type JSX, Match, Show, Switch } from "solid-js";
import { Button } from "../kit/Button";
import { Spinner } from "../kit/Spinner";
import { Banner } from "../kit/small";
import type { Review } from "./review";
import { agentsWords, emptyWords } from "./words";

/** What is shown instead of files, or above them: that they load, cannot be loaded, or that there are none. */
export function States(props: { review: Review; children: JSX.Element }) {
  const changes = () => props.review.changes();
  const isEmpty = () =>
    props.review.files().length === 0 &&
    props.review.meanwhile().length === 0 &&
    props.review.comments().length + props.review.sent().length === 0;
  const retry = () => (
    <Button small onClick={() => void props.review.refresh()}>
      Try again
    </Button>
  );
  return (
    <Switch>
      <Match when={!changes() && props.review.error()}>
        {(text) => (
          <div class="review-state">
            <p role="alert">{text()}</p>
            {retry()}
          </div>
        )}
      </Match>
      <Match when={!changes()}>
        <p class="review-state" role="status">
          <Spinner /> Looking for changes…
        </p>
      </Match>
      <Match when={isEmpty() && changes()}>
        {(empty) => (
          <div class="review-state">
            <h2>{emptyWords(empty()).title}</h2>
            <p>{emptyWords(empty()).text}</p>
          </div>
        )}
      </Match>
      <Match when={true}>
        <Show when={props.review.error()}>
          {(text) => (
            <Banner icon="warning" actions={retry()}>
              {text()} This may be out of date.
            </Banner>
          )}
        </Show>
        <Show when={changes()?.source === "agents" && changes()}>
          {(known) => <Banner icon="info">{agentsWords(known())}</Banner>}
        </Show>
        {props.children}
      </Match>
    </Switch>
  );
}
