import { createSignal, For, Show } from "solid-js";
import { api } from "../api/client";
import type { QueueItem } from "../api/types";
import { watch_only, watchesOnly } from "../state/device";
import { Icon } from "./Icon";
import { InlineError } from "./InlineError";
import { AttachedNames } from "./OutboxList";
import { createSubmit } from "./submit";
import { Visible } from "./Visible";

/** Messages that wait for the running turn to end. */
export function Queue(props: { sessionId: string; items: QueueItem[] }) {
  return (
    <Show when={props.items.length > 0}>
      <ul class="queue" aria-label="Queued messages">
        <For each={props.items}>{(item) => <QueuedMessage sessionId={props.sessionId} item={item} />}</For>
      </ul>
    </Show>
  );
}

function QueuedMessage(props: { sessionId: string; item: QueueItem }) {
  const [editing, setEditing] = createSignal(false);
  const { busy, error, submit } = createSubmit();
  /** Shown as taken back at once; the server has the last word. */
  const [withdrawing, setWithdrawing] = createSignal(false);
  let input: HTMLTextAreaElement | undefined;

  const withdraw = async () => {
    setWithdrawing(true);
    const done = await submit(() => api.withdrawQueued(props.sessionId, props.item.message_id));
    if (!done) setWithdrawing(false);
  };
  const save = () =>
    submit(async () => {
      const content = input?.value.trim() ?? "";
      if (content !== "") await api.editQueued(props.sessionId, props.item.message_id, content);
      setEditing(false);
    });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Escape") setEditing(false);
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void save();
    }
  };

  return (
    <li class="queue-item" classList={{ withdrawn: withdrawing() }}>
      <span class="badge">{withdrawing() ? "withdrawing" : "queued"}</span>
      <Show
        when={editing()}
        fallback={
          <>
            <span class="queue-text">
              <Visible text={props.item.content} />
            </span>
            <AttachedNames names={(props.item.attachments ?? []).map((attachment) => attachment.name)} />
            <button
              type="button"
              class="icon-button"
              aria-label="Edit queued message"
              disabled={withdrawing() || watchesOnly()}
              title={watchesOnly() ? watch_only : undefined}
              onClick={() => setEditing(true)}
            >
              <Icon name="edit" />
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label="Withdraw queued message"
              disabled={busy() || watchesOnly()}
              title={watchesOnly() ? watch_only : undefined}
              onClick={withdraw}
            >
              <Icon name="close" />
            </button>
          </>
        }
      >
        <textarea
          ref={(element) => {
            input = element;
            queueMicrotask(() => element.focus());
          }}
          class="queue-edit"
          aria-label="Queued message"
          rows={Math.min(6, props.item.content.split("\n").length)}
          onKeyDown={onKeyDown}
        >
          {props.item.content}
        </textarea>
        <button type="button" class="icon-button" aria-label="Save queued message" onClick={save}>
          <Icon name="check" />
        </button>
        <button type="button" class="icon-button" aria-label="Leave unchanged" onClick={() => setEditing(false)}>
          <Icon name="close" />
        </button>
      </Show>
      <InlineError message={error()} />
    </li>
  );
}
