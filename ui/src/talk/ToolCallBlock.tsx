import { createMemo, Show } from "solid-js";
import type { PermissionRequest, ReviewArtifact } from "../api/types";
import { CopyButton } from "../kit/CopyButton";
import { Icon, type IconName } from "../kit/Icon";
import { Dot } from "../kit/small";
import { Visible } from "../kit/Visible";
import { isDelegation, readArguments } from "../state/delegation";
import type { StreamingToolCall } from "../state/model";
import { ArtifactCard } from "./ArtifactCard";
import { AgentCard } from "./agent/AgentCard";
import { callStatus } from "./callStatus";
import { handOf, setHand } from "./folds";
import { Fields } from "./laterFields";

interface ToolCallBlockProps {
  call: StreamingToolCall;
  artifact: ReviewArtifact | undefined;
  asks?: readonly PermissionRequest[] | undefined;
  waitsForLogin?: boolean;
  /** Its whole turn is being stopped. */
  stopping?: boolean;
  isLane?: boolean;
  /** How it ended is said elsewhere. */
  isExplained?: boolean;
  onStop(): Promise<void>;
}

/** A tool call of the main AI. An agent that it calls has a card; the call itself is no box of its own. */
export function ToolCallBlock(props: ToolCallBlockProps) {
  return (
    <>
      <Show when={isDelegation(props.call)} fallback={<PlainCall call={props.call} />}>
        <div class="tool-block">
          <p class="tool-caption visually-hidden">
            ⚙ <Visible text={props.call.name} />
          </p>
          <AgentCard
            call={props.call}
            asks={props.asks}
            waitsForLogin={props.waitsForLogin ?? false}
            stopping={props.stopping ?? false}
            isLane={props.isLane ?? false}
            isExplained={props.isExplained ?? false}
            onStop={props.onStop}
          />
        </div>
      </Show>
      <Show when={props.artifact}>{(artifact) => <ArtifactCard artifact={artifact()} />}</Show>
    </>
  );
}

const icons: [part: string, icon: IconName][] = [
  ["read", "read"],
  ["list", "folder"],
  ["grep", "search"],
  ["search", "search"],
  ["glob", "search"],
  ["write", "edit"],
  ["git", "branch"],
];

function PlainCall(props: { call: StreamingToolCall }) {
  const status = createMemo(() => callStatus(props.call));
  const args = createMemo(() => readArguments(props.call.arguments));
  const icon = () => icons.find(([part]) => props.call.name.includes(part))?.[1] ?? "other";
  const output = () => props.call.display ?? props.call.result;
  const key = () => `plain:${props.call.id}`;
  return (
    <details
      class="tool-block plain"
      data-fold={key()}
      open={handOf(key()) ?? false}
      onToggle={(event) => {
        const { open } = event.currentTarget;
        if (open !== (handOf(key()) ?? false)) setHand(key(), open);
      }}
    >
      <summary class="line">
        <Icon name={icon()} />
        <span class="tool-name">
          <span class="robot">⚙ </span>
          <Visible text={props.call.name} />
        </span>
        <Show when={hint(args())}>
          {(text) => (
            <code class="tool-hint cut">
              <Visible text={text()} />
            </code>
          )}
        </Show>
        <Icon name="next" size="small" />
        <Show when={status().running} fallback={<ToolOutcome label={status().label} />}>
          <Dot status="running" />
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
        <Show when={output()}>
          {(text) => (
            <div class="output">
              <pre class="tool-output" classList={{ failed: props.call.isError }} tabindex="0">
                <Visible text={text()} />
              </pre>
              <CopyButton label="Copy output" text={text} />
            </div>
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
