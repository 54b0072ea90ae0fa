import { createRenderEffect, createSignal, Show, untrack } from "solid-js";
import { unwrap } from "solid-js/store";
import type { MessageEntry } from "../state/model";
import { visible } from "../state/visible";
import { SentAttachments } from "./Attachments";
import { patchHtml } from "./html";
import { StreamText } from "./StreamText";
import { tailPlace, tailStart } from "./tail";
import { clock } from "./time";

interface MessageViewProps {
  entry: MessageEntry;
  sessionId: string;
  /** Whose words they are, if they are not the person's own. */
  author: string;
}

export function MessageView(props: MessageViewProps) {
  return (
    <Show
      when={props.entry.role === "user"}
      fallback={<AssistantMessage entry={props.entry} author={visible(props.author)} />}
    >
      <article class="message user" aria-label="You">
        <SentAttachments sessionId={props.sessionId} items={props.entry.attachments} />
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

/** The rendered beginning of the text, and right behind it what has come since. */
function AssistantMessage(props: { entry: MessageEntry; author: string }) {
  const rendered = (<div class="markdown" />) as HTMLDivElement;
  const [from, setFrom] = createSignal(0);
  const tail = (
    <span class="unrendered">
      <StreamText text={props.entry.text} from={from()} />
    </span>
  ) as HTMLSpanElement;

  createRenderEffect(() => {
    const { html, htmlLength, text, streaming } = props.entry;
    tail.remove();
    patchHtml(rendered, html ?? "");
    const place = tailPlace(rendered);
    const goesOn = streaming || untrack(() => htmlLength < text.length);
    setFrom(goesOn ? untrack(() => tailStart(unwrap(text), htmlLength, place)) : htmlLength);
    // A tail that is still empty fills up here when more text comes.
    place.append(tail);
  });
  return (
    <article
      class="message assistant"
      classList={{ streaming: props.entry.streaming }}
      aria-label={props.author}
      aria-busy={props.entry.streaming}
    >
      {rendered}
    </article>
  );
}
