import { createRenderEffect, Show } from "solid-js";
import type { MessageEntry } from "../state/model";
import { patchHtml } from "./html";
import { StreamText } from "./StreamText";
import { clock } from "./time";

export function MessageView(props: { entry: MessageEntry }) {
  return (
    <Show when={props.entry.role === "user"} fallback={<AssistantMessage entry={props.entry} />}>
      <article class="message user" aria-label="You">
        <div class="bubble">
          <StreamText text={props.entry.text} />
        </div>
        <Show when={props.entry.createdAt}>
          {(time) => (
            <time class="message-time" dateTime={time()}>
              {clock(time())}
            </time>
          )}
        </Show>
      </article>
    </Show>
  );
}

function AssistantMessage(props: { entry: MessageEntry }) {
  const rendered = (<div class="markdown" />) as HTMLDivElement;
  createRenderEffect(() => patchHtml(rendered, props.entry.html ?? ""));
  const isBehind = () => props.entry.htmlLength < props.entry.text.length;
  return (
    <article
      class="message assistant"
      classList={{ streaming: props.entry.streaming }}
      aria-label="VoxPilot"
      aria-busy={props.entry.streaming}
    >
      {rendered}
      <Show when={isBehind()}>
        <div class="unrendered">
          <StreamText text={props.entry.text} from={props.entry.htmlLength} />
        </div>
      </Show>
    </article>
  );
}
