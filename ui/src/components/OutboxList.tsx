import { For, Show } from "solid-js";
import type { Outbox, OutboxItem } from "../state/outbox";

const words: Record<OutboxItem["state"], string> = {
  sending: "sending…",
  accepted: "sent",
  retrying: "not sent yet, trying again…",
  refused: "not sent",
};

/** Messages that the stream has not shown yet. */
export function OutboxList(props: { outbox: Outbox }) {
  return (
    <Show when={props.outbox.items.length > 0}>
      <ul class="queue" aria-label="Messages on their way">
        <For each={props.outbox.items}>
          {(item) => (
            <li class="queue-item" classList={{ failed: item.state === "refused" }}>
              <span class="badge">{words[item.state]}</span>
              <span class="queue-text">{item.content}</span>
              <Show when={item.state === "refused"}>
                <button type="button" class="button small" onClick={() => props.outbox.retry(item.clientId)}>
                  Try again
                </button>
              </Show>
              <Show when={item.state === "refused" || item.state === "retrying"}>
                <button type="button" class="button small" onClick={() => props.outbox.discard(item.clientId)}>
                  Discard
                </button>
              </Show>
              <Show when={item.error}>
                {(message) => (
                  <p class="inline-error" role="alert">
                    {message()}
                  </p>
                )}
              </Show>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}
