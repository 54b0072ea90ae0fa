import { Show } from "solid-js";
import { sessionName } from "../state/delegation";
import type { StreamingToolCall } from "../state/model";
import { useAgentNames } from "./agentNames";
import { Spinner } from "./Spinner";
import { Visible } from "./Visible";

interface AgentHeadProps {
  call: StreamingToolCall;
  /** How the call ended; not shown while it runs. */
  label: string;
  running: boolean;
  stopping: boolean;
}

/** Which agent session is at work, and how it stands. */
export function AgentHead(props: AgentHeadProps) {
  const names = useAgentNames();
  return (
    <>
      <span class="copilot-name">
        🤖 <Visible text={`${names.of(props.call)} [${sessionName(props.call)}]`} />
        {props.running ? "" : ` — ${props.label}`}
      </span>
      <Show when={props.running}>
        <Spinner label="running" />
        <Show when={props.stopping}>
          <span class="badge">stopping</span>
        </Show>
        <Show when={props.call.recovered}>
          <span class="badge copilot-recovered">recovered, still live</span>
        </Show>
      </Show>
    </>
  );
}
