import { createSignal, Show } from "solid-js";
import { sentence } from "../api/client";
import { IconButton } from "../kit/Button";
import { CopyButton } from "../kit/CopyButton";
import { clock } from "../kit/time";
import { tell } from "../kit/toasts";
import { watchesOnly } from "../state/device";
import type { MessageEntry } from "../state/model";
import { wholeText } from "../state/text";
import { visible } from "../state/visible";
import { Markdown } from "./markdown/Markdown";
import { SentFiles } from "./parts";

interface MessageViewProps {
  entry: MessageEntry;
  sessionId: string;
  /** Whose words they are, if they are not the person's own. */
  author: string;
  /** Puts it back into the composer; absent where nobody can send. */
  onEdit?: ((entry: MessageEntry) => Promise<void>) | undefined;
}

export function MessageView(props: MessageViewProps) {
  return (
    <Show
      when={props.entry.role === "user"}
      fallback={
        <article
          class="message assistant"
          classList={{ streaming: props.entry.streaming }}
          aria-label={visible(props.author)}
          aria-busy={props.entry.streaming}
        >
          <Markdown text={props.entry.text} streaming={props.entry.streaming} />
        </article>
      }
    >
      <UserMessage {...props} />
    </Show>
  );
}

function UserMessage(props: MessageViewProps) {
  const [busy, setBusy] = createSignal(false);
  const edit = async () => {
    setBusy(true);
    await props.onEdit?.(props.entry).catch((error) => tell(sentence(error)));
    setBusy(false);
  };
  return (
    <article class="message user" aria-label="You" tabindex="-1">
      <Show when={props.entry.attachments.length > 0}>
        <SentFiles sessionId={props.sessionId} items={props.entry.attachments} />
      </Show>
      <div class="bubble">
        <Markdown text={props.entry.text} />
      </div>
      <div class="message-acts">
        <Show when={props.entry.createdAt}>
          {(time) => (
            <time class="message-time num" dateTime={time()}>
              {clock(time())}
            </time>
          )}
        </Show>
        <CopyButton label="Copy message" text={() => wholeText(props.entry.text)} />
        <Show when={props.onEdit && !watchesOnly()}>
          <IconButton
            icon="edit"
            label="Edit and resend"
            title="Edit and resend as a new message. This one stays."
            disabled={busy()}
            onClick={() => void edit()}
          />
        </Show>
      </div>
    </article>
  );
}
