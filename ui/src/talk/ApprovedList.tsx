import { For, Show } from "solid-js";
import type { Approval } from "../api/types";
import { Visible } from "../kit/Visible";
import { directoryText } from "./askText";
import { FileRow } from "./FileRow";
import { Fold } from "./Fold";
import { ViewRule } from "./timeline/rare";

/** What an agent was allowed without a question: one line, or one that opens where there was more. */
export function ApprovedList(props: { approvals: Approval[]; scope: string }) {
  return (
    <Show
      when={props.approvals.length > 1}
      fallback={
        <For each={props.approvals}>
          {(approval) => (
            <p class="line approved">
              <span>
                {approval.by === "rule" ? "Allowed by a rule: " : "Allowed automatically: "}
                <ApprovedText approval={approval} />
              </span>
              <Show when={approval.rule_id}>{(id) => <ViewRule id={id()} />}</Show>
            </p>
          )}
        </For>
      }
    >
      <Fold key={props.scope} class="approved" head={`Allowed automatically: ${props.approvals.length} requests`}>
        <ul class="approved-list">
          <For each={props.approvals}>
            {(approval) => (
              <li>
                <ApprovedText approval={approval} />
                <Show when={approval.by === "rule"}> (by a rule)</Show>
                <Show when={approval.rule_id}>{(id) => <ViewRule id={id()} />}</Show>
              </li>
            )}
          </For>
        </ul>
      </Fold>
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
      <Show when={files().some((file) => file.place !== "inside")}>
        <ul class="locations" aria-label="Places">
          <For each={files()}>{(file) => <FileRow file={file} />}</For>
        </ul>
      </Show>
    </>
  );
}
