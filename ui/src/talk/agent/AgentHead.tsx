import { createMemo, Show } from "solid-js";
import { duration } from "../../kit/duration";
import { Icon } from "../../kit/Icon";
import { AgentMark, Dot, PlusMinus, Tag } from "../../kit/small";
import { Visible } from "../../kit/Visible";
import { sessionName } from "../../state/delegation";
import type { StreamingToolCall } from "../../state/model";
import { useAgentNames } from "../agentNames";
import { callStatus } from "../callStatus";
import { createNow } from "../spans";
import { sumOf } from "../timeline/hunks";
import { callsOf } from "../timeline/rows";

interface AgentHeadProps {
  call: StreamingToolCall;
  /** It waits for an answer. */
  asks: boolean;
  stopping: boolean;
  /** Where the conversation itself tells the rest: the usual session and a usual end are for those who listen. */
  isBrief?: boolean;
}

/** The session that a person talks to where nothing else is said. */
const main_session = "main";

/** Which agent session is at work, and how it stands. The robot stays as text, the drawing stands for it. */
export function AgentName(props: AgentHeadProps) {
  const names = useAgentNames();
  const status = createMemo(() => callStatus(props.call));
  const isUsual = () => (props.isBrief ?? false) && sessionName(props.call) === main_session;
  /** A turn that was stopped says so below. */
  const isQuietEnd = () => (props.isBrief ?? false) && (status().tone === "good" || status().label === "stopped");
  return (
    <>
      <AgentMark agent={names.of(props.call)} />
      <span class="agent-who">
        <span class="copilot-name">
          <span class="robot">🤖 </span>
          <b>
            <Visible text={names.of(props.call)} />
          </b>{" "}
          <span class="agent-named" classList={{ "visually-hidden": isUsual() }}>
            [<Visible text={sessionName(props.call)} />]
          </span>
          <Show when={!status().running}>
            <span class="agent-end" classList={{ "visually-hidden": isQuietEnd() }}>
              {" "}
              — {status().label}
            </span>
          </Show>
        </span>
        <Show when={status().running}>
          <Show when={props.asks} fallback={<Dot status="running" />}>
            <Dot status="waiting" />
          </Show>
          <Show when={props.stopping}>
            <Tag>stopping</Tag>
          </Show>
          <Show when={props.call.recovered}>
            <span class="tag copilot-recovered">recovered, still live</span>
          </Show>
        </Show>
      </span>
    </>
  );
}

/** What it has changed, and how long it took or takes. */
export function AgentFigures(props: { call: StreamingToolCall; running: boolean; asks?: boolean }) {
  const sum = createMemo(() => sumOf(callsOf(props.call.copilotStream)));
  const now = createNow(() => props.running);
  const time = () => {
    const { startedAt, endedAt } = props.call;
    // Waiting is no work: it is not counted while it goes on, either.
    if (startedAt === null || props.asks || (endedAt === null && !props.running)) return "";
    const end = endedAt === null ? Math.max(now(), Date.parse(startedAt)) : Date.parse(endedAt);
    return duration(Math.max(0, end - Date.parse(startedAt) - props.call.waitedMs));
  };
  return (
    <>
      <Show when={sum().files > 0}>
        <span class="file-count">{sum().files === 1 ? "1 file" : `${sum().files} files`}</span>
        <PlusMinus additions={sum().additions} deletions={sum().deletions} />
      </Show>
      <Show when={time()}>{(text) => <span class="agent-time">{text()}</span>}</Show>
    </>
  );
}

export function Chevron() {
  return <Icon name="next" size="small" />;
}
