import { createMemo, For, onMount, Show } from "solid-js";
import { readArguments, sessionName } from "../state/delegation";
import type { StreamingToolCall } from "../state/model";
import { visible } from "../state/visible";
import { AgentFoot } from "./AgentFoot";
import { AgentHead } from "./AgentHead";
import { type AgentStop, createAgentStop } from "./agentStop";
import { callStatus, isDenied } from "./callStatus";
import { FlowPart } from "./FlowPart";
import { Starting } from "./Starting";
import { createStick } from "./stick";
import { Visible } from "./Visible";

interface CopilotStreamBlockProps {
  call: StreamingToolCall;
  waitsForLogin: boolean;
  /** Its whole turn is being stopped. */
  stopping: boolean;
  onStop(): Promise<void>;
}

/** An agent at work: open while it runs, closing itself when it has ended. */
export function CopilotStreamBlock(props: CopilotStreamBlockProps) {
  const status = createMemo(() => callStatus(props.call));
  const running = createMemo(() => status().running);
  const stop = createAgentStop(props);
  const prompt = createMemo(() => {
    const value = readArguments(props.call.arguments)?.prompt;
    return typeof value === "string" ? value : null;
  });
  return (
    <>
      <Show when={prompt()}>
        {(text) => (
          <details class="copilot-task">
            <summary>
              <Visible text={text().split("\n", 1)[0] ?? ""} />
            </summary>
            <div class="copilot-task-text">
              <Visible text={text()} />
            </div>
          </details>
        )}
      </Show>
      <details class="copilot-block" classList={{ [status().tone]: true }} open={running()}>
        <summary>
          <span class="copilot-head">
            <AgentHead call={props.call} label={status().label} running={running()} stopping={stop.stopping()} />
          </span>
        </summary>
        <CopilotBody call={props.call} waitsForLogin={props.waitsForLogin} running={running()} stop={stop} />
      </details>
    </>
  );
}

interface CopilotBodyProps {
  call: StreamingToolCall;
  waitsForLogin: boolean;
  running: boolean;
  stop: AgentStop;
}

function CopilotBody(props: CopilotBodyProps) {
  const stick = createStick();
  let scroller!: HTMLPreElement;
  let content!: HTMLDivElement;
  onMount(() => stick.attach(scroller, content));

  /** What ended without a word of the agent still has something to say. */
  const ending = () => {
    if (props.running || isDenied(props.call) || (props.call.copilotStream?.length ?? 0) > 0) return null;
    return props.call.copilotDone?.summary || props.call.display || props.call.result;
  };
  return (
    <div class="copilot-body">
      <pre
        ref={scroller}
        class="copilot-stream"
        tabindex="0"
        role="group"
        aria-label={`Output of ${visible(sessionName(props.call))}`}
      >
        <div ref={content} class="copilot-flow">
          <For each={props.call.copilotStream?.parts}>{(part) => <FlowPart part={part} running={props.running} />}</For>
          <Show when={ending()}>
            {(text) => (
              <span class="copilot-ending">
                <Visible text={text()} />
              </span>
            )}
          </Show>
          <Show when={props.running && (props.call.copilotStream?.parts.length ?? 0) === 0}>
            <Starting call={props.call} waitsForLogin={props.waitsForLogin} />
          </Show>
        </div>
      </pre>
      <AgentFoot call={props.call} running={props.running} stop={props.stop} />
    </div>
  );
}
