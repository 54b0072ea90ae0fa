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
import { handOf, setHand } from "./folds";
import { Markdown, MarkdownText } from "./markdown/Markdown";
import { Starting } from "./Starting";
import { leadOf, rowsOf } from "./timeline/rows";
import { Event, LeadBody, LeadLine, Timeline } from "./timeline/Timeline";

interface AgentTurnProps {
  call: StreamingToolCall;
  asks?: readonly PermissionRequest[] | undefined;
  waitsForLogin: boolean;
  /** Its whole turn is being stopped. */
  stopping: boolean;
  /** How it ended is said right below, for the whole turn. */
  isExplained?: boolean;
  onStop(): Promise<void>;
}

/** An agent that a person talks to straight: what it says and does is the conversation itself. */
export function AgentTurn(props: AgentTurnProps) {
  const status = createMemo(() => callStatus(props.call));
  const running = createMemo(() => status().running);
  const stop = createAgentStop(props);
  const names = useAgentNames();
  const flow = () => props.call.copilotStream;
  const rows = createMemo(() => rowsOf(flow(), { running: running(), asks: props.asks ?? [] }));
  const lead = createMemo(() => {
    const row = leadOf(rows());
    // That it means to do one thing is no news while it has not begun.
    return row && running() && row.calls.length + row.thoughts.length === 0 ? null : row;
  });
  const below = () => (lead() ? rows().slice(1) : rows());
  const leadKey = () => `${props.call.id}:lead`;
  const isLeadOpen = () => lead() !== null && (handOf(leadKey()) ?? false);
  const leadId = () => `lead-${props.call.id}`;
  const lastWords = createMemo(() => flow()?.parts.findLast((part) => part.type === "text")?.id);
  const ending = () => {
    if (running() || isDenied(props.call) || props.call.isError || (flow()?.length ?? 0) > 0) return null;
    return props.call.copilotDone?.summary || null;
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
      // Every turn has one: a landmark each would be none.
      role="group"
      class="agent-turn"
      classList={{ [status().tone]: true }}
      aria-label={visible(`${names.of(props.call)} ${sessionName(props.call)}`)}
      aria-busy={running()}
    >
      <div class="agent-turn-line">
        <p class="agent-turn-head">
          <AgentName
            call={props.call}
            asks={(props.asks?.length ?? 0) > 0 || props.waitsForLogin}
            stopping={stop.stopping()}
            isBrief
          />
        </p>
        <Show when={lead()}>
          {(row) => (
            <LeadLine
              row={row()}
              flow={flow()}
              scope={props.call.id}
              running={running()}
              isOpen={isLeadOpen()}
              id={leadId()}
              onToggle={() => setHand(leadKey(), !isLeadOpen())}
            />
          )}
        </Show>
        <Show when={running()}>
          <span class="agent-meta num">
            <AgentFigures call={props.call} running={running()} asks={(props.asks?.length ?? 0) > 0} />
          </span>
          <AgentStopButton call={props.call} stop={stop} />
        </Show>
      </div>
      <div class="copilot-stream straight">
        <Show when={lead()}>
          {(row) => (
            <Show when={isLeadOpen() || row().approved.length > 0}>
              <div hidden={!isLeadOpen()} data-fold={leadKey()}>
                <LeadBody row={row()} flow={flow()} scope={props.call.id} running={running()} id={leadId()} />
              </div>
            </Show>
          )}
        </Show>
        <Timeline
          flow={flow()}
          rows={below()}
          asks={props.asks}
          scope={props.call.id}
          running={running()}
          words={words}
        />
        <Show when={ending()}>{(text) => <MarkdownText class="copilot-ending" text={text()} />}</Show>
        <Show when={running() && !props.waitsForLogin && rows().length === 0 && (flow()?.parts.length ?? 0) === 0}>
          <Event dot>
            <Starting call={props.call} waitsForLogin={false} />
          </Event>
        </Show>
      </div>
      <AgentFoot
        call={props.call}
        stop={stop}
        waitsForLogin={props.waitsForLogin}
        isExplained={(props.isExplained ?? false) || (isDenied(props.call) && (flow()?.length ?? 0) > 0)}
      />
    </section>
  );
}
