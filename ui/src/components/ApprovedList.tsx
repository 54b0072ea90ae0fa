import { For, Show } from "solid-js";
import type { Approval } from "../api/types";
import { directoryText } from "./askText";
import { FileRow } from "./FileRow";
import { Visible } from "./Visible";

/** What an agent was allowed without a question: one line, or one that opens where there was more. */
export function ApprovedList(props: { approvals: Approval[] }) {
  return (
    <Show
      when={props.approvals.length > 1}
      fallback={
        <p class="flow-item flow-note approved">
          allowed automatically: <For each={props.approvals}>{(approval) => <ApprovedText approval={approval} />}</For>
        </p>
      }
    >
      <details class="flow-item flow-note approved">
        <summary>allowed automatically: {props.approvals.length} requests</summary>
        <ul>
          <For each={props.approvals}>
            {(approval) => (
              <li>
                <ApprovedText approval={approval} />
              </li>
            )}
          </For>
        </ul>
      </details>
    </Show>
  );
}

function ApprovedText(props: { approval: Approval }) {
  const files = () => props.approval.files ?? [];
  return (
    <>
      <Visible text={props.approval.title} />
      <Show when={props.approval.command && props.approval.command !== props.approval.title}>
        {" "}
        <code>
          <Visible text={props.approval.command ?? ""} />
        </code>
      </Show>
      <Show when={props.approval.cwd && props.approval.cwd !== "."}>
        {" "}
        in <Visible text={directoryText(props.approval.cwd ?? "")} />
      </Show>
      <Show when={props.approval.by === "rule"}> (by a remembered answer)</Show>
      <Show when={files().some((file) => file.place !== "inside")}>
        <ul class="locations" aria-label="Places">
          <For each={files()}>{(file) => <FileRow file={file} />}</For>
        </ul>
      </Show>
    </>
  );
}
