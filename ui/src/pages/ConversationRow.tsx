import { Match, Show, Switch } from "solid-js";
import type { Conversation } from "../api/types";
import { Spinner } from "../kit/Spinner";
import { Dot, Tag } from "../kit/small";
import { ago } from "../kit/time";
import { Visible } from "../kit/Visible";
import { isElsewhere } from "../state/conversations";
import { watch_only, watchesOnly } from "../state/device";
import { sessionHref } from "../state/route";
import { visible } from "../state/visible";

interface ConversationRowProps {
  conversation: Conversation;
  /** The title of its agent. */
  agent: string;
  /** It is being continued. */
  taking: boolean;
  disabled: boolean;
  onContinue(): void;
}

/** A conversation: one of ours is a link, one that only its agent has can be continued here. */
export function ConversationRow(props: ConversationRowProps) {
  const title = () => props.conversation.title || "Untitled";
  return (
    <li class="conversation">
      <Show
        when={props.conversation.session_id}
        fallback={
          <span class="conversation-title">
            <Visible text={title()} />
          </span>
        }
      >
        {(id) => (
          <a class="conversation-title" href={sessionHref(id())}>
            <Visible text={title()} />
          </a>
        )}
      </Show>
      <span class="conversation-meta">
        <Show when={!isElsewhere(props.conversation)}>
          <span>
            <Visible text={props.agent} />
          </span>
        </Show>
        <State conversation={props.conversation} agent={props.agent} />
        <Show when={props.conversation.updated_at}>{(time) => <time dateTime={time()}>{ago(time())}</time>}</Show>
      </span>
      <Show when={isElsewhere(props.conversation)}>
        <button
          type="button"
          class="button small"
          aria-label={`Resume here: ${visible(title())}`}
          disabled={props.disabled || watchesOnly()}
          title={watchesOnly() ? watch_only : undefined}
          onClick={() => props.onContinue()}
        >
          <Show when={props.taking}>
            <Spinner label="loading" />{" "}
          </Show>
          Resume here
        </button>
      </Show>
    </li>
  );
}

function State(props: { conversation: Conversation; agent: string }) {
  const state = () => props.conversation.state;
  return (
    <Switch fallback={<span>idle</span>}>
      <Match when={isElsewhere(props.conversation)}>
        <Tag>
          only with <Visible text={props.agent} />
        </Tag>
      </Match>
      <Match when={state() === "waiting"}>
        <span class="conversation-state">
          <Dot status="waiting" quiet /> needs you
        </span>
      </Match>
      <Match when={state() === "running"}>
        <span class="conversation-state">
          <Dot status="running" quiet /> running
        </span>
      </Match>
      <Match when={state() === "queued"}>
        <span>queued</span>
      </Match>
    </Switch>
  );
}
