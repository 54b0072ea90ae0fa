import { createMemo, onMount, Show } from "solid-js";
import type { PermissionRequest } from "../../api/types";
import { Icon } from "../../kit/Icon";
import { later } from "../../kit/later";
import { Visible } from "../../kit/Visible";
import { readArguments, sessionName } from "../../state/delegation";
import type { StreamingToolCall } from "../../state/model";
import { visible } from "../../state/visible";
import { createAgentStop } from "../agentStop";
import { callStatus, isDenied } from "../callStatus";
import { Fold } from "../Fold";
import { MarkdownText } from "../markdown/Markdown";
import { useHeld } from "../nextSteps";
import { usePath } from "../paths";
import { RawLines } from "../rawLater";
import { Starting } from "../Starting";
import { createCalm } from "../spans";
import { createStick } from "../stick";
import { Event, Timeline } from "../timeline/Timeline";
import { AgentFoot } from "./AgentFoot";
import { AgentFigures, AgentName, Chevron } from "./AgentHead";
import { AgentStopButton } from "./AgentStopButton";
import { activityOf, plainLine, resultOf } from "./activity";
import { createCardOpen } from "./cardOpen";

/** Only agents that work side by side have it. */
const LaneFoot = later(async () => (await import("./LaneFoot")).LaneFoot);

const calm_ms = 500;
const lane_rows = 4;

export interface AgentCardProps {
  call: StreamingToolCall;
  /** What it asks and waits for. */
  asks?: readonly PermissionRequest[] | undefined;
  waitsForLogin: boolean;
  /** Its whole turn is being stopped. */
  stopping: boolean;
  /** How it ended is said elsewhere. */
  isExplained?: boolean;
  /** Beside others: the end of its timeline, and how far its plan is. */
  isLane?: boolean;
  onStop(): Promise<void>;
}

/** An agent at work: open while it runs, closing itself a moment after its end. */
export function AgentCard(props: AgentCardProps) {
  const status = createMemo(() => callStatus(props.call));
  const running = createMemo(() => status().running);
  const stop = createAgentStop(props);
  let card: HTMLDetailsElement | undefined;
  const fold = createCardOpen({ key: `card:${props.call.id}`, running, card: () => card });
  const open = () => props.isLane || fold.open();
  const asks = () => (props.asks?.length ?? 0) > 0;
  return (
    <div class="agent">
      <details
        ref={card}
        class="copilot-block"
        data-fold={`card:${props.call.id}`}
        classList={{ [status().tone]: true, asks: asks() && running() }}
        open={open()}
        onToggle={(event) => !props.isLane && fold.onToggle(event)}
      >
        <summary>
          <AgentName call={props.call} asks={asks() || props.waitsForLogin} stopping={stop.stopping()} />
          <span class="agent-meta num">
            <AgentFigures call={props.call} running={running()} asks={asks()} />
            <Show when={running()}>
              <span class="stop-room" />
            </Show>
            <Chevron />
          </span>
          <Now {...props} running={running()} />
        </summary>
        <Body {...props} running={running()} />
      </details>
      <Show when={running()}>
        <AgentStopButton call={props.call} stop={stop} />
      </Show>
      <AgentFoot
        call={props.call}
        stop={stop}
        waitsForLogin={props.waitsForLogin}
        isExplained={props.isExplained ?? false}
      />
    </div>
  );
}

/** What it does now, or what came of it. */
function Now(props: AgentCardProps & { running: boolean }) {
  const path = usePath();
  const isHeld = useHeld();
  const activity = createMemo(() => {
    if (props.asks?.length)
      return { text: props.asks.every(isHeld) ? "Declined" : "Waiting for you", code: "", icon: null };
    if (props.waitsForLogin) return { text: "Waiting for you to sign in", code: "", icon: null };
    return activityOf(props.call.copilotStream, path);
  });
  const calm = createCalm(activity, calm_ms);
  return (
    <Show
      when={props.running}
      fallback={
        <Show when={resultOf(props.call)}>
          {(result) => (
            <span class="agent-now">
              <span class="cut">
                <Visible text={result()} />
              </span>
            </span>
          )}
        </Show>
      }
    >
      <span class="agent-now">
        <Show when={calm().icon}>{(icon) => <Icon name={icon()} size="small" />}</Show>
        <span class="cut">
          <Visible text={calm().text} />
          <Show when={calm().code}>
            {" "}
            <code>
              <Visible text={calm().code} />
            </code>
          </Show>
        </span>
      </span>
    </Show>
  );
}

function Body(props: AgentCardProps & { running: boolean }) {
  const stick = createStick();
  let scroller!: HTMLPreElement;
  let content!: HTMLDivElement;
  onMount(() => stick.attach(scroller, content));
  const parts = () => props.call.copilotStream?.parts.length ?? 0;
  const ending = () => {
    if (props.running || isDenied(props.call) || props.call.isError || (props.call.copilotStream?.length ?? 0) > 0)
      return null;
    return props.call.copilotDone?.summary || null;
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
        <div ref={content} class="timeline">
          <Show when={!props.isLane}>
            <Task call={props.call} />
          </Show>
          <Timeline
            flow={props.call.copilotStream}
            scope={props.call.id}
            running={props.running}
            asks={props.asks}
            {...(props.isLane ? { tail: lane_rows } : {})}
          />
          <Show when={ending()}>
            {(text) => (
              <Event icon="comment">
                <MarkdownText class="copilot-ending" text={text()} />
              </Event>
            )}
          </Show>
          <Show when={!props.isLane && !props.running && parts() > 0}>
            <RawLines call={props.call} />
          </Show>
          <Show when={props.running && !props.waitsForLogin && !props.asks?.length && parts() === 0}>
            <Event dot>
              <Starting call={props.call} waitsForLogin={false} />
            </Event>
          </Show>
        </div>
      </pre>
      <Show when={props.isLane}>
        <LaneFoot call={props.call} running={props.running} />
      </Show>
    </div>
  );
}

/** What it was told to do. */
function Task(props: { call: StreamingToolCall }) {
  const prompt = createMemo(() => {
    const value = readArguments(props.call.arguments)?.prompt;
    return typeof value === "string" ? value : null;
  });
  const first = () => plainLine(prompt() ?? "");
  return (
    <Show when={prompt()}>
      {(text) => (
        <Event icon="send" class="copilot-task">
          <Fold key={`${props.call.id}:task`} head={<Visible text={`Task: ${first()}`} />}>
            <div class="fold-text">
              <MarkdownText text={text()} />
            </div>
          </Fold>
        </Event>
      )}
    </Show>
  );
}
