import { Show } from "solid-js";
import type { Notice } from "../api/types";
import { Icon } from "../kit/Icon";
import { Visible } from "../kit/Visible";
import { Prose } from "./Prose";

type NoticeViewProps = { notice: Pick<Notice, "level" | "title" | "text" | "session_name"> & { code?: string } };

/** Something that the server says about the session, at the place where it happened. */
export function NoticeView(props: NoticeViewProps) {
  /** A login that is asked for is a card of its own; here it tells why a turn came to nothing. */
  const level = () => (props.notice.code === "auth_required" ? "warning" : props.notice.level);
  /** Some say in their text what their title says. */
  const title = () => (props.notice.text.startsWith(props.notice.title) ? "" : props.notice.title);
  const name = () => (props.notice.session_name ? `[${props.notice.session_name}]` : "");
  return (
    <Show
      when={props.notice.code !== "cancelled"}
      fallback={
        <p class="mark-line" role="note">
          Stopped by you. What was done until then is kept.
        </p>
      }
    >
      <div
        class="notice"
        classList={{ quiet: level() === "info", warning: level() === "warning", error: level() === "error" }}
        role={level() === "error" ? "alert" : "note"}
      >
        <Show when={level() !== "info"}>
          <Icon name="warning" size="small" />
        </Show>
        <div class="notice-words">
          <Show when={title()}>
            <span class="notice-head">
              <strong class="notice-title">
                <Visible text={title()} />
              </strong>{" "}
              <span class="notice-session">{name()}</span>
            </span>{" "}
          </Show>
          <span class="notice-text">
            <Prose text={props.notice.text} />
          </span>
          <Show when={!title()}>
            {" "}
            <span class="notice-session">{name()}</span>
          </Show>
        </div>
      </div>
    </Show>
  );
}
