import { Show } from "solid-js";
import { watch_only, watchesOnly } from "../state/device";
import type { StreamingToolCall } from "../state/model";
import type { AgentStop } from "./agentStop";
import { ContextMeter } from "./ContextMeter";
import { denialText, isDenied } from "./callStatus";
import { InlineError } from "./InlineError";
import { TokenCount } from "./TokenCount";
import { Visible } from "./Visible";

interface AgentFootProps {
  call: StreamingToolCall;
  running: boolean;
  stop: AgentStop;
}

/** Below an agent's work: why it failed or was denied, how to stop it, how full its context is and what it has used. */
export function AgentFoot(props: AgentFootProps) {
  return (
    <>
      <Show
        when={isDenied(props.call)}
        fallback={
          <Show when={props.call.isError && props.call.result}>
            {(text) => (
              <p class="inline-error">
                <Visible text={text()} />
              </p>
            )}
          </Show>
        }
      >
        <p class="denial">
          <strong>Denied</strong> <Visible text={denialText(props.call)} />
        </p>
      </Show>
      <InlineError message={props.stop.error()} />
      <div class="copilot-foot">
        <Show when={props.running}>
          <button
            type="button"
            class="button small"
            disabled={props.stop.stopping() || watchesOnly()}
            title={watchesOnly() ? watch_only : undefined}
            onClick={() => void props.stop.stop()}
          >
            {props.stop.stopping() ? "Stopping…" : "Stop this agent"}
          </button>
        </Show>
        <ContextMeter usage={props.call.copilotStream?.usage ?? null} />
        <TokenCount usage={props.call.copilotStream?.usage ?? null} />
      </div>
    </>
  );
}
