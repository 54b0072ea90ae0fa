import { createMemo, Show } from "solid-js";
import { InlineError } from "../../kit/InlineError";
import { Visible } from "../../kit/Visible";
import type { StreamingToolCall } from "../../state/model";
import type { AgentStop } from "../agentStop";
import { denialText, isDenied } from "../callStatus";
import { callEnding, waits_for_login } from "../endings";
import { EndingFoot } from "../parts";
import { callsOf, isUnbegun } from "../timeline/rows";

interface AgentFootProps {
  call: StreamingToolCall;
  stop: AgentStop;
  /** Its task waits until somebody has signed in. */
  waitsForLogin: boolean;
  /** What it would say is said elsewhere. */
  isExplained?: boolean;
}

/** Below an agent's work: why it did not come to a good end, and what can be done about it. */
export function AgentFoot(props: AgentFootProps) {
  const ending = createMemo(() => callEnding(props.call));
  const shown = () => {
    const known = ending();
    return known?.says && !props.isExplained ? known : null;
  };
  /** The row of what was declined names it. */
  const unnamed = () => (callsOf(props.call.copilotStream).some(isUnbegun) ? "" : denialText(props.call));
  return (
    <>
      <InlineError message={props.stop.error()} />
      <Show when={ending() === null && props.waitsForLogin}>
        <EndingFoot call={props.call} ending={waits_for_login} />
      </Show>
      <Show when={isDenied(props.call) && !props.isExplained}>
        <p class="agent-foot denial">
          <strong>Declined</strong>
          <Show when={unnamed()}>
            {(text) => (
              <>
                {" "}
                <s>
                  <Visible text={text()} />
                </s>
              </>
            )}
          </Show>
          . Tell it what to do instead.
        </p>
      </Show>
      <Show when={shown()}>{(known) => <EndingFoot call={props.call} ending={known()} />}</Show>
    </>
  );
}
