import { Show } from "solid-js";
import type { Notice } from "../api/types";

/** Something that the server says about the session, at the place where it happened. */
export function NoticeView(props: { notice: Pick<Notice, "level" | "title" | "text" | "session_name"> }) {
  return (
    <div
      class="notice"
      classList={{ warning: props.notice.level === "warning", error: props.notice.level === "error" }}
      role={props.notice.level === "error" ? "alert" : "note"}
    >
      <Show when={props.notice.title}>
        <strong>{props.notice.title}</strong>{" "}
      </Show>
      <span>{props.notice.text}</span>
      <Show when={props.notice.session_name}>{(name) => <span class="notice-session"> [{name()}]</span>}</Show>
    </div>
  );
}
