import { For, Show } from "solid-js";
import type { NewAttachment } from "../api/types";
import { Visible } from "../kit/Visible";
import type { Outbox, OutboxItem } from "../state/outbox";

const words: Record<OutboxItem["state"], string> = {
  sending: "sending…",
  accepted: "sent",
  offline: "not sent yet, waiting for the connection",
  postponed: "not sent yet, retrying",
  refused: "not sent",
};

interface OutboxListProps {
  outbox: Outbox;
  /** A message was withdrawn: its text is not to be lost. */
  onWithdrawn(content: string, attachments: NewAttachment[]): void;
}

/** Messages that the stream has not shown yet. */
export function OutboxList(props: OutboxListProps) {
  return (
    <ul class="queue" aria-label="Messages on their way">
      <For each={props.outbox.items}>{(item) => <OutgoingMessage {...props} item={item} />}</For>
    </ul>
  );
}

/** That something goes along, by name. */
export function AttachedNames(props: { names: string[] }) {
  return (
    <Show when={props.names.length > 0}>
      <span class="tag attached-names" title={props.names.join(", ")}>
        {props.names.length === 1 ? props.names[0] : `${props.names.length} attachments`}
      </span>
    </Show>
  );
}

function OutgoingMessage(props: OutboxListProps & { item: OutboxItem }) {
  const isStuck = () => props.item.state !== "sending" && props.item.state !== "accepted";
  const withdraw = async () => {
    const { clientId, content, files } = props.item;
    const attachments = files.length === 0 ? [] : await props.outbox.filesOf(clientId);
    props.outbox.discard(clientId);
    props.onWithdrawn(content, attachments);
  };
  return (
    <li class="queue-item" classList={{ unsent: isStuck(), failed: props.item.state === "refused" }}>
      <span class="queue-text">
        <Visible text={props.item.content} />
      </span>
      <AttachedNames names={props.item.files} />
      <span class="queue-state">{words[props.item.state]}</span>
      <Show when={isStuck()}>
        <span class="queue-actions">
          <button type="button" class="button small" onClick={() => props.outbox.retry(props.item.clientId)}>
            Try now
          </button>
          <button type="button" class="button small" onClick={withdraw}>
            Withdraw
          </button>
        </span>
      </Show>
      <Show when={props.item.error}>
        {(message) => (
          <p class="inline-error" role="alert">
            {message()}
          </p>
        )}
      </Show>
    </li>
  );
}
