import { sessionName } from "../../state/delegation";
import { watch_only, watchesOnly } from "../../state/device";
import type { StreamingToolCall } from "../../state/model";
import { visible } from "../../state/visible";
import { useAgentNames } from "../agentNames";
import type { AgentStop } from "../agentStop";

/** Stops one agent. Beside what it belongs to, not inside: a control in a control cannot be reached by everybody. */
export function AgentStopButton(props: { call: StreamingToolCall; stop: AgentStop }) {
  const names = useAgentNames();
  const label = () => visible(`Stop this agent: ${names.of(props.call)} [${sessionName(props.call)}]`);
  return (
    <button
      type="button"
      class="agent-stop"
      aria-label={label()}
      title={watchesOnly() ? watch_only : props.stop.stopping() ? "Stopping" : "Stop this agent"}
      disabled={props.stop.stopping() || watchesOnly()}
      onClick={() => void props.stop.stop()}
    />
  );
}
