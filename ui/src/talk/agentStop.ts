import { createSignal } from "solid-js";
import { createSubmit } from "../kit/submit";
import type { StreamingToolCall } from "../state/model";

interface Stoppable {
  call: StreamingToolCall;
  /** Its whole turn is being stopped. */
  stopping: boolean;
  onStop(): Promise<void>;
}

/** The stop of one agent: seen as soon as it is asked for, and taken back if the server refuses. */
export function createAgentStop(props: Stoppable) {
  const { error, submit } = createSubmit();
  /** Asked for here; the server has not said so yet. */
  const [asked, setAsked] = createSignal(false);
  return {
    error,
    stopping: () => props.stopping || props.call.stopping || asked(),
    async stop() {
      setAsked(true);
      if (!(await submit(() => props.onStop()))) setAsked(false);
    },
  };
}

export type AgentStop = ReturnType<typeof createAgentStop>;
