import { createEffect, createMemo, createSignal, For, on, onCleanup, Show } from "solid-js";
import { api } from "../api/client";
import { list } from "../api/list";
import type { QueueItem } from "../api/types";
import { IconButton } from "../kit/Button";
import { InlineError } from "../kit/InlineError";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import { watch_only, watchesOnly } from "../state/device";
import { createDrag } from "./drag";
import { focusComposerOnDesk } from "./keyboard";
import { AttachedNames } from "./OutboxList";

interface QueueProps {
  sessionId: string;
  items: QueueItem[];
  /** Somebody stopped what ran: nothing goes by itself. */
  held: boolean;
  running: boolean;
  /** The message that is to be changed, as somebody asked from elsewhere. */
  editing: string | null;
  onEdited(): void;
}

/** What uncovers itself must not take a click that was meant for something else. */
const unready_ms = 500;

/** Says that nothing goes by itself after a stop, and how it goes on. */
function HeldBar(props: QueueProps) {
  const { busy, error, submit } = createSubmit();
  const [ready, setReady] = createSignal(false);
  const timer = setTimeout(() => setReady(true), unready_ms);
  onCleanup(() => clearTimeout(timer));
  const count = () => props.items.length;
  const act = async (call: () => Promise<unknown>) => {
    if (await submit(call)) focusComposerOnDesk();
  };
  const removeAll = async () => {
    for (const { message_id } of [...props.items]) await api.withdrawQueued(props.sessionId, message_id);
  };
  const locked = () => !ready() || busy() || watchesOnly();
  const why = (text: string) => (watchesOnly() ? watch_only : text);
  return (
    <div class="queue-held">
      <span class="held-mark" aria-hidden="true" />
      <p role="status">
        <strong>{props.running ? "Held." : "Stopped."}</strong>{" "}
        {count() === 1 ? "1 queued message is waiting." : `${count()} queued messages are waiting.`}
      </p>
      <button
        type="button"
        class="button small quiet"
        disabled={locked()}
        title={why(count() === 1 ? "Remove the queued message" : "Remove all queued messages")}
        onClick={() => void act(removeAll)}
      >
        {count() === 1 ? "Remove" : "Remove all"}
      </button>
      <button
        type="button"
        class="button small"
        disabled={locked()}
        title={why(props.running ? "Send it when this turn ends; the others follow" : "Send it; the others follow")}
        onClick={() => void act(() => list.sendNext(props.sessionId))}
      >
        Send next
      </button>
      <InlineError message={error()} />
    </div>
  );
}

/** Messages that wait for the running turn to end, in the order in which they go. */
export function Queue(props: QueueProps) {
  const { error, submit } = createSubmit();
  /** The order as somebody has just made it; the server's word replaces it. */
  const [moved, setMoved] = createSignal<string[] | null>(null);
  createEffect(
    on(
      () => props.items.map(({ message_id }) => message_id).join(),
      () => setMoved(null),
      { defer: true },
    ),
  );
  const ids = createMemo(() => moved() ?? props.items.map(({ message_id }) => message_id));
  let box: HTMLUListElement | undefined;

  const move = async (id: string, to: number) => {
    const from = ids().indexOf(id);
    if (watchesOnly() || to < 0 || to >= ids().length || to === from) return;
    setMoved(ids().toSpliced(from, 1).toSpliced(to, 0, id));
    queueMicrotask(() => box?.querySelectorAll<HTMLElement>(".queue-grip")[to]?.focus());
    if (!(await submit(() => list.moveQueued(props.sessionId, id, to)))) setMoved(null);
  };
  const drag = createDrag(
    () => box,
    (from, to) => {
      const id = ids()[from];
      if (id !== undefined) void move(id, to);
    },
  );
  return (
    <Show when={props.items.length > 0}>
      <Show when={props.held}>
        <HeldBar {...props} />
      </Show>
      <ul ref={box} class="queue" aria-label="Queued messages">
        <For each={ids()}>
          {(id, index) => (
            <Show when={props.items.find(({ message_id }) => message_id === id)}>
              {(item) => (
                <QueuedMessage
                  sessionId={props.sessionId}
                  item={item()}
                  isLone={props.items.length === 1}
                  editing={props.editing === id}
                  onEdited={props.onEdited}
                  onGrip={(event) => drag(event, index())}
                  onStep={(by) => void move(id, index() + by)}
                />
              )}
            </Show>
          )}
        </For>
        <InlineError message={error()} />
      </ul>
    </Show>
  );
}

interface QueuedMessageProps {
  sessionId: string;
  item: QueueItem;
  isLone: boolean;
  editing: boolean;
  onEdited(): void;
  onGrip(event: PointerEvent): void;
  onStep(by: 1 | -1): void;
}

function QueuedMessage(props: QueuedMessageProps) {
  const [editing, setEditing] = createSignal(false);
  const { busy, error, submit } = createSubmit();
  /** Shown as taken back at once; the server has the last word. */
  const [withdrawing, setWithdrawing] = createSignal(false);
  let input: HTMLTextAreaElement | undefined;
  createEffect(() => props.editing && setEditing(true));

  const path = () => [props.sessionId, props.item.message_id] as const;
  const withdraw = async () => {
    setWithdrawing(true);
    if (!(await submit(() => api.withdrawQueued(...path())))) setWithdrawing(false);
  };
  const close = () => {
    setEditing(false);
    props.onEdited();
  };
  const save = () =>
    submit(async () => {
      const content = input?.value.trim() ?? "";
      if (content !== "") await api.editQueued(...path(), content);
      close();
    });
  const onEditKey = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      close();
    }
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void save();
    }
  };
  const onGripKey = (event: KeyboardEvent) => {
    const by = ({ ArrowUp: -1, ArrowDown: 1 } as const)[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    props.onStep(by);
  };
  const locked = () => busy() || withdrawing() || watchesOnly();
  const why = (text: string) => (watchesOnly() ? watch_only : text);
  return (
    <li class="queue-item" classList={{ withdrawn: withdrawing() }}>
      <Show
        when={editing()}
        fallback={
          <>
            <Show when={!props.isLone}>
              <IconButton
                class="queue-grip"
                icon="grip"
                label="Move queued message, with the arrow keys"
                disabled={locked()}
                onPointerDown={(event) => props.onGrip(event)}
                onKeyDown={onGripKey}
              />
            </Show>
            <span class="queue-text cut">
              <Visible text={props.item.content} />
            </span>
            <AttachedNames names={(props.item.attachments ?? []).map((attachment) => attachment.name)} />
            <IconButton
              icon="send"
              label="Send now"
              title={why("Send now: the running turn is stopped")}
              disabled={locked()}
              onClick={() => void submit(() => list.sendNow(...path()))}
            />
            <IconButton
              icon="edit"
              label="Edit queued message"
              title={why("Edit")}
              disabled={withdrawing() || watchesOnly()}
              onClick={() => setEditing(true)}
            />
            <IconButton
              icon="close"
              label="Remove queued message"
              title={why("Remove")}
              disabled={locked()}
              onClick={withdraw}
            />
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
          onKeyDown={onEditKey}
        >
          {props.item.content}
        </textarea>
        <IconButton icon="check" label="Save queued message" onClick={save} />
        <IconButton icon="close" label="Leave unchanged" onClick={close} />
      </Show>
      <InlineError message={error()} />
    </li>
  );
}
