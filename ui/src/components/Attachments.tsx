import { For, Match, Show, Switch } from "solid-js";
import { api } from "../api/client";
import type { Attachment, NewAttachment } from "../api/types";
import { formatSize, nameOf, sizeOf } from "../state/attachments";
import { Icon } from "./Icon";
import { Visible } from "./Visible";

/** What was sent along with a message. */
export function SentAttachments(props: { sessionId: string; items: Attachment[] }) {
  const url = (item: Attachment) => api.attachmentUrl(props.sessionId, item.id);
  return (
    <Show when={props.items.length > 0}>
      <ul class="attachments" aria-label="Attachments">
        <For each={props.items}>
          {(item) => (
            <li>
              <Switch>
                <Match when={item.kind === "image"}>
                  <a class="attachment-image" href={url(item)} target="_blank" rel="noreferrer">
                    <img src={url(item)} alt={item.name} loading="lazy" />
                  </a>
                </Match>
                <Match when={item.kind === "file"}>
                  <a class="attachment-chip" href={url(item)} download={item.name}>
                    <Icon name="read" /> <Visible text={item.name} />{" "}
                    <span class="attachment-size">{formatSize(item.size)}</span>
                  </a>
                </Match>
                <Match when={item.kind === "path"}>
                  <span class="attachment-chip">
                    <Icon name="files" /> <Visible text={item.name} />
                  </span>
                </Match>
              </Switch>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

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
