import { createMemo, Show } from "solid-js";
import type { PermissionRequest } from "../api/types";
import { sessionName } from "../state/delegation";
import type { TextPart } from "../state/flow";
import type { StreamingToolCall } from "../state/model";
import { visible } from "../state/visible";
import { AgentFoot } from "./agent/AgentFoot";
import { AgentFigures, AgentName } from "./agent/AgentHead";
import { AgentStopButton } from "./agent/AgentStopButton";
import { useAgentNames } from "./agentNames";
import { createAgentStop } from "./agentStop";
import { callStatus, isDenied } from "./callStatus";
import { Markdown, MarkdownText } from "./markdown/Markdown";
import { Starting } from "./Starting";
import { Event, Timeline } from "./timeline/Timeline";

interface AgentTurnProps {
  call: StreamingToolCall;
  asks: PermissionRequest | undefined;
  waitsForLogin: boolean;
  /** Its whole turn is being stopped. */
  stopping: boolean;
  onStop(): Promise<void>;
}

/** An agent that a person talks to straight: what it says and does is the conversation itself. */
export function AgentTurn(props: AgentTurnProps) {
  const status = createMemo(() => callStatus(props.call));
  const running = createMemo(() => status().running);
  const stop = createAgentStop(props);
  const names = useAgentNames();
  const lastWords = createMemo(() => props.call.copilotStream?.parts.findLast((part) => part.type === "text")?.id);
  /** What ended without a word of the agent still has something to say. */
  const ending = () => {
    if (running() || isDenied(props.call) || (props.call.copilotStream?.length ?? 0) > 0) return null;
    return props.call.isError ? null : props.call.copilotDone?.summary || props.call.display || props.call.result;
  };
  /** The closing words are the answer, from their first letter on: nothing moves when they turn out to be the last. */
  const words = (part: TextPart, isLast: () => boolean) => {
    const isAnswer = () => lastWords() === part.id;
    const isOpen = () => running() && isLast();
    return (
      <article
        classList={{ message: isAnswer(), assistant: isAnswer(), streaming: isOpen() }}
        class="agent-part"
        aria-label={visible(names.of(props.call))}
        aria-busy={isOpen()}
      >
        <Markdown class="copilot-text" text={part.text} streaming={isOpen()} />
      </article>
    );
  };
  return (
    <section
      class="agent-turn"
      classList={{ [status().tone]: true }}
      aria-label={visible(`${names.of(props.call)} ${sessionName(props.call)}`)}
      aria-busy={running()}
    >
      <div class="agent-turn-line">
        <p class="agent-turn-head">
          <AgentName call={props.call} asks={props.asks !== undefined} stopping={stop.stopping()} />
        </p>
        <span class="agent-meta num">
          <AgentFigures call={props.call} running={running()} />
        </span>
        <Show when={running()}>
          <AgentStopButton call={props.call} stop={stop} />
        </Show>
      </div>
      <div class="copilot-stream straight">
        <Timeline flow={props.call.copilotStream} scope={props.call.id} running={running()} words={words} />
        <Show when={ending()}>{(text) => <MarkdownText class="copilot-ending" text={text()} />}</Show>
        <Show when={running() && (props.call.copilotStream?.parts.length ?? 0) === 0}>
          <Event dot>
            <Starting call={props.call} waitsForLogin={props.waitsForLogin} />
          </Event>
        </Show>
      </div>
      <AgentFoot call={props.call} asks={props.asks} stop={stop} />
    </section>
  );
}
