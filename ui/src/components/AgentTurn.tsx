import { createMemo, For, Show } from "solid-js";
import { sessionName } from "../state/delegation";
import type { StreamingToolCall } from "../state/model";
import { repeatedPart } from "../state/straight";
import { visible } from "../state/visible";
import { AgentFoot } from "./AgentFoot";
import { AgentHead } from "./AgentHead";
import { useAgentNames } from "./agentNames";
import { createAgentStop } from "./agentStop";
import { callStatus, isDenied } from "./callStatus";
import { FlowPart } from "./FlowPart";
import { Starting } from "./Starting";
import { Visible } from "./Visible";

interface AgentTurnProps {
  call: StreamingToolCall;
  /** What follows as the answer; words that it repeats are not shown twice. */
  answer: string | null;
  waitsForLogin: boolean;
  /** Its whole turn is being stopped. */
  stopping: boolean;
  onStop(): Promise<void>;
}

/** An agent that a person talks to straight: what it says and does is the conversation itself. */
export function AgentTurn(props: AgentTurnProps) {
  const status = createMemo(() => callStatus(props.call));
  const running = createMemo(() => status().running);
  const repeated = createMemo(() => (running() ? undefined : repeatedPart(props.call.copilotStream, props.answer)));
  const stop = createAgentStop(props);
  const names = useAgentNames();
  /** What ended without a word of the agent still has something to say. */
  const ending = () => {
    if (running() || isDenied(props.call) || props.answer !== null || (props.call.copilotStream?.length ?? 0) > 0)
      return null;
    return props.call.isError ? null : props.call.copilotDone?.summary || props.call.display || props.call.result;
  };
  return (
    <section
      class="agent-turn"
      classList={{ [status().tone]: true }}
      aria-label={visible(`${names.of(props.call)} ${sessionName(props.call)}`)}
      aria-busy={running()}
    >
      <p class="agent-turn-head">
        <AgentHead call={props.call} label={status().label} running={running()} stopping={stop.stopping()} />
      </p>
      <div class="copilot-stream straight">
        <For each={props.call.copilotStream?.parts}>
          {(part) => (
            <div class="agent-part" hidden={repeated() === part}>
              <FlowPart part={part} running={running()} />
            </div>
          )}
        </For>
        <Show when={ending()}>
          {(text) => (
            <p class="copilot-ending">
              <Visible text={text()} />
            </p>
          )}
        </Show>
        <Show when={running() && (props.call.copilotStream?.parts.length ?? 0) === 0}>
          <Starting call={props.call} waitsForLogin={props.waitsForLogin} />
        </Show>
      </div>
      <AgentFoot call={props.call} running={running()} stop={stop} />
    </section>
  );
}
