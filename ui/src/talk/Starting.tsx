import { createMemo, onCleanup } from "solid-js";
import type { StreamingToolCall } from "../state/model";
import { useAgent } from "./agentNames";

/** An agent that is being downloaded tells of it only when it is asked for again. */
const poll_ms = 2_000;

/** Shown until an agent has said or done something: what it waits for. */
export function Starting(props: { call: StreamingToolCall; waitsForLogin: boolean }) {
  const { agentOf, refresh } = useAgent();
  const timer = setInterval(refresh, poll_ms);
  onCleanup(() => clearInterval(timer));
  const words = createMemo(() => {
    if (props.waitsForLogin) return "Waiting for the sign-in…";
    const agent = agentOf(props.call);
    if (agent?.health !== "installing") return "Starting…";
    return `npx downloads ${agent.title} for its first start. This can take a few minutes… ${agent.problem ?? ""}`;
  });
  return <p class="line copilot-starting">{words()}</p>;
}
