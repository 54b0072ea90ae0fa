import { Show } from "solid-js";
import type { StreamingToolCall } from "../state/model";

/** How full the agent's context is. */
export function Usage(props: { call: StreamingToolCall }) {
  const text = () => {
    const usage = props.call.copilotStream?.usage;
    if (!usage || usage.used === null) return null;
    const size = usage.size === null ? "" : ` of ${short(usage.size)}`;
    return `${short(usage.used)}${size} tokens`;
  };
  return <Show when={text()}>{(usage) => <span class="copilot-usage">{usage()}</span>}</Show>;
}

function short(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
}
