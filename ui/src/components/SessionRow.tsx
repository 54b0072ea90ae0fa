import { createSignal, Show } from "solid-js";
import type { Session } from "../api/types";
import { watch_only, watchesOnly } from "../state/device";
import { sessionHref } from "../state/route";
import { visible } from "../state/visible";
import { Icon } from "./Icon";
import { InlineEdit } from "./InlineEdit";
import { Spinner } from "./Spinner";
import { ago } from "./time";
import { Visible } from "./Visible";

interface SessionRowProps {
  session: Session;
  active: boolean;
  onOpen(): void;
  onRename(title: string): void;
  onDelete(): void;
}

export function SessionRow(props: SessionRowProps) {
  const [renaming, setRenaming] = createSignal(false);
  const title = () => props.session.title || "Untitled";
  return (
    <li class="session-row" classList={{ active: props.active }}>
      <Show
        when={!renaming()}
        fallback={
          <InlineEdit
            label="Session title"
            value={props.session.title}
            onSave={(value) => {
              setRenaming(false);
              props.onRename(value);
            }}
            onCancel={() => setRenaming(false)}
          />
        }
      >
        <a
          class="session-link"
          href={sessionHref(props.session.id)}
          aria-current={props.active ? "page" : undefined}
          onClick={() => props.onOpen()}
        >
          <span class="session-title">
            <Visible text={title()} />
          </span>
          <span class="session-meta">
            <Show when={props.session.waiting > 0}>
              <span class="badge waiting">needs you</span>
            </Show>
            <Show when={props.session.running}>
              <span class="badge running">
                <Spinner /> running
              </span>
            </Show>
            <Show when={props.session.queue_len > 0}>
              <span class="badge">{props.session.queue_len} queued</span>
            </Show>
            <Show when={!props.session.running && props.session.waiting === 0}>
              <span>{ago(props.session.updated_at)}</span>
            </Show>
          </span>
        </a>
        <span class="row-actions">
          <button
            type="button"
            class="icon-button"
            disabled={watchesOnly()}
            title={watchesOnly() ? watch_only : undefined}
            aria-label={`Rename ${visible(title())}`}
            onClick={() => setRenaming(true)}
          >
            <Icon name="edit" />
          </button>
          <button
            type="button"
            class="icon-button"
            disabled={watchesOnly()}
            title={watchesOnly() ? watch_only : undefined}
            aria-label={`Delete ${visible(title())}`}
            onClick={() => props.onDelete()}
          >
            <Icon name="trash" />
          </button>
        </span>
      </Show>
    </li>
  );
}
