import { For, Show } from "solid-js";
import type { NewAttachment } from "../api/types";
import { Icon } from "../kit/Icon";
import { Visible } from "../kit/Visible";
import { formatSize, nameOf, sizeOf } from "../state/attachments";

interface DraftAttachmentsProps {
  items: NewAttachment[];
  /** Names of files that are still being read. */
  reading: string[];
  onRemove(index: number): void;
}

/** What is to be sent along with the message that is being written. */
export function DraftAttachments(props: DraftAttachmentsProps) {
  return (
    <Show when={props.items.length + props.reading.length > 0}>
      <ul class="attachments draft" aria-label="Attachments of this message">
        <For each={props.items}>
          {(item, index) => (
            <li class="attachment-draft">
              <Show
                when={item.kind === "image" && item}
                fallback={
                  <span class="attachment-chip">
                    <Icon name="read" /> <Visible text={nameOf(item)} />{" "}
                    <span class="attachment-size">{formatSize(sizeOf(item))}</span>
                  </span>
                }
              >
                {(image) => (
                  <span class="attachment-image">
                    <img src={`data:${image().mime_type};base64,${image().data}`} alt={image().name} />
                  </span>
                )}
              </Show>
              <button
                type="button"
                class="attachment-remove"
                aria-label={`Remove ${nameOf(item)}`}
                onClick={() => props.onRemove(index())}
              >
                <Icon name="close" />
              </button>
            </li>
          )}
        </For>
        <For each={props.reading}>
          {(name) => (
            <li class="attachment-chip" aria-busy="true">
              {name} <progress aria-label={`Reading ${name}`} />
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}
