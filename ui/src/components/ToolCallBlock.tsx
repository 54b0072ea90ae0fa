import { createMemo, Show } from "solid-js";
import type { ReviewArtifact } from "../api/types";
import { isDelegation, readArguments } from "../state/delegation";
import type { StreamingToolCall } from "../state/model";
import { CopilotStreamBlock } from "./CopilotStreamBlock";
import { callStatus } from "./callStatus";
import { Fields } from "./Fields";
import { ReviewCard } from "./ReviewCard";
import { Spinner } from "./Spinner";
import { Visible } from "./Visible";

interface ToolCallBlockProps {
  call: StreamingToolCall;
  artifact: ReviewArtifact | undefined;
  waitsForLogin?: boolean;
  /** Its whole turn is being stopped. */
  stopping?: boolean;
  onStop(): Promise<void>;
}

export function ToolCallBlock(props: ToolCallBlockProps) {
  const delegates = () => isDelegation(props.call);
  return (
    <>
      <Show when={delegates()} fallback={<PlainCall call={props.call} />}>
        <details class="tool-block" open>
          <summary>
            ⚙ <Visible text={props.call.name} />
          </summary>
          <div class="tool-body">
            <CopilotStreamBlock
              call={props.call}
              waitsForLogin={props.waitsForLogin ?? false}
              stopping={props.stopping ?? false}
              onStop={props.onStop}
            />
          </div>
        </details>
      </Show>
      <Show when={props.artifact}>{(artifact) => <ReviewCard artifact={artifact()} />}</Show>
    </>
  );
}

function PlainCall(props: { call: StreamingToolCall }) {
  const status = createMemo(() => callStatus(props.call));
  const args = createMemo(() => readArguments(props.call.arguments));
  return (
    <details class="tool-block">
      <summary>
        <span>
          ⚙ <Visible text={props.call.name} />
        </span>
        <Show when={hint(args())}>
          {(text) => (
            <span class="tool-hint">
              <Visible text={text()} />
            </span>
          )}
        </Show>
        <Show when={status().running} fallback={<ToolOutcome label={status().label} />}>
          <Spinner label="running" />
        </Show>
      </summary>
      <div class="tool-body">
        <Show
          when={args()}
          fallback={
            <pre class="tool-output">
              <Visible text={props.call.arguments} />
            </pre>
          }
        >
          {(fields) => <Fields value={fields()} />}
        </Show>
        <Show when={props.call.display ?? props.call.result}>
          {(output) => (
            <pre class="tool-output" classList={{ failed: props.call.isError }} tabindex="0">
              <Visible text={output()} />
            </pre>
          )}
        </Show>
      </div>
    </details>
  );
}

/** Success needs no words. */
function ToolOutcome(props: { label: string }) {
  return (
    <Show when={props.label !== "done"}>
      <span class="tool-outcome">— {props.label}</span>
    </Show>
  );
}

/** The one argument that says most. */
function hint(args: Record<string, unknown> | null): string | undefined {
  const value = args?.path ?? args?.pattern ?? args?.query ?? args?.command;
  return typeof value === "string" ? value : undefined;
}
