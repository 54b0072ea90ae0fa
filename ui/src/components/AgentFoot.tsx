import { Show } from "solid-js";
import type { StreamingToolCall } from "../state/model";
import type { AgentStop } from "./agentStop";
import { ContextMeter } from "./ContextMeter";
import { InlineError } from "./InlineError";

interface AgentFootProps {
  call: StreamingToolCall;
  running: boolean;
  stop: AgentStop;
}

/** Below an agent's work: why it failed, how to stop it, and how full its context is. */
export function AgentFoot(props: AgentFootProps) {
  return (
    <>
      <Show when={props.call.isError && props.call.result}>{(text) => <p class="inline-error">{text()}</p>}</Show>
      <InlineError message={props.stop.error()} />
      <div class="copilot-foot">
        <Show when={props.running}>
          <button
            type="button"
            class="button small"
            disabled={props.stop.stopping()}
            onClick={() => void props.stop.stop()}
          >
            {props.stop.stopping() ? "Stopping…" : "Stop this agent"}
          </button>
        </Show>
        <ContextMeter usage={props.call.copilotStream?.usage ?? null} />
      </div>
    </>
  );
}
