import { createSignal, For, Match, Show, Switch } from "solid-js";
import { api } from "../api/client";
import type { Attachment } from "../api/types";
import { Icon } from "../kit/Icon";
import { later } from "../kit/later";
import { Visible } from "../kit/Visible";
import { formatSize } from "../state/attachments";
import { visible } from "../state/visible";

const Picture = later(async () => (await import("./Picture")).Picture);

/** What was sent along with a message. A picture opens in its place. */
export function SentFiles(props: { sessionId: string; items: Attachment[] }) {
  const url = (item: Attachment) => api.attachmentUrl(props.sessionId, item.id);
  const [opened, setOpened] = createSignal<Attachment | null>(null);
  return (
    <Show when={props.items.length > 0}>
      <ul class="sent-files" aria-label="Attachments">
        <For each={props.items}>
          {(item) => (
            <li>
              <Switch>
                <Match when={item.kind === "image"}>
                  <button type="button" class="sent-picture" title="Open the picture" onClick={() => setOpened(item)}>
                    <img src={url(item)} alt={visible(item.name)} loading="lazy" />
                  </button>
                </Match>
                <Match when={item.kind === "file"}>
                  <a class="sent-file" href={url(item)} download={item.name}>
                    <Icon name="read" /> <Visible text={item.name} /> <span class="mute">{formatSize(item.size)}</span>
                  </a>
                </Match>
                <Match when={item.kind === "path"}>
                  <span class="sent-file">
                    <Icon name="files" /> <Visible text={item.name} />
                  </span>
                </Match>
              </Switch>
            </li>
          )}
        </For>
      </ul>
      <Show when={opened()}>
        {(item) => <Picture name={item().name} url={url(item())} onClose={() => setOpened(null)} />}
      </Show>
    </Show>
  );
}
