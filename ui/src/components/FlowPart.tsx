import { For, Match, Show, Switch } from "solid-js";
import type { PlanEntry, Update } from "../api/types";
import type { ApprovedPart, GroupPart, Part, TextPart, ThoughtPart, UpdatePart } from "../state/flow";
import { AgentCall } from "./AgentCall";
import { ApprovedList } from "./ApprovedList";
import { Fields } from "./Fields";
import { NoticeView } from "./NoticeView";
import { StreamText } from "./StreamText";
import { Visible } from "./Visible";

type Of<Kind extends Update["type"]> = Extract<Update, { type: Kind }>;

/** A piece of what an agent said or did, at its place. */
export function FlowPart(props: { part: Part; running: boolean }) {
  return (
    <Switch>
      <Match when={props.part.type === "text"}>
        <StreamText class="copilot-text" text={(props.part as TextPart).text} />
      </Match>
      <Match when={props.part.type === "thought"}>
        <details class="flow-item thought">
          <summary>Thinking</summary>
          <div class="thought-text">
            <StreamText text={(props.part as ThoughtPart).text} />
          </div>
        </details>
      </Match>
      <Match when={props.part.type === "group"}>
        <SubAgent group={props.part as GroupPart} running={props.running} />
      </Match>
      <Match when={props.part.type === "approved"}>
        <ApprovedList approvals={(props.part as ApprovedPart).approvals} />
      </Match>
      <Match when={props.part.type === "update"}>
        <FlowUpdate part={props.part as UpdatePart} running={props.running} />
      </Match>
    </Switch>
  );
}

function FlowUpdate(props: { part: UpdatePart; running: boolean }) {
  const is = <Kind extends Update["type"]>(kind: Kind) =>
    (props.part.update.type === kind ? props.part.update : undefined) as Of<Kind> | undefined;
  return (
    <Switch>
      <Match when={is("tool_call")}>{(call) => <AgentCall call={call()} stream={props.part.output?.text} />}</Match>
      <Match when={is("plan")}>{(plan) => <Plan entries={plan().entries} running={props.running} />}</Match>
      <Match when={is("mode")}>
        {(mode) => (
          <p class="flow-item flow-note">
            Mode: <Visible text={lastPart(mode().mode_id)} />
          </p>
        )}
      </Match>
      <Match when={is("notice")}>
        {(notice) => (
          <div class="flow-item">
            <NoticeView notice={{ level: notice().level, title: "", text: noticeText(notice()) }} />
          </div>
        )}
      </Match>
      <Match when={is("denied")}>
        {(denied) => (
          <div class="flow-item">
            <NoticeView notice={{ level: "warning", title: "Not allowed", text: denied().title }} />
          </div>
        )}
      </Match>
      <Match when={is("compaction")}>{(compaction) => <Compaction of={compaction()} />}</Match>
      <Match when={is("user_message")}>
        {(message) => (
          <blockquote class="flow-item flow-quote">
            <Visible text={message().text} />
          </blockquote>
        )}
      </Match>
      <Match when={is("content")}>{(part) => <Folded label="Attachment" value={part().content} />}</Match>
      <Match when={is("unknown")}>{(other) => <Folded label={other().kind} value={other().raw} />}</Match>
    </Switch>
  );
}

/** Some agents name their modes by addresses. */
function lastPart(id: string): string {
  return id.slice(id.lastIndexOf("#") + 1);
}

/** Enough of an id to tell it from the others. */
function shortId(id: string): string {
  return id.replace(/^([0-9a-f]{8})-[0-9a-f-]{27}$/, "$1");
}

function SubAgent(props: { group: GroupPart; running: boolean }) {
  const count = () => props.group.parts.length;
  return (
    <details class="flow-item sub-agent" open>
      <summary>
        <span class="agent-call-title">
          Sub-agent <Visible text={shortId(props.group.agent)} />
        </span>
        <span class="badge">{count() === 1 ? "1 call" : `${count()} calls`}</span>
      </summary>
      <For each={props.group.parts}>{(part) => <FlowUpdate part={part} running={props.running} />}</For>
    </details>
  );
}

function Compaction(props: { of: Of<"compaction"> }) {
  const label = () => {
    if (props.of.status === "completed") return "The conversation was shortened to make room";
    if (props.of.status === "failed")
      return `Shortening the conversation failed: ${props.of.error ?? "no reason given"}`;
    if (props.of.status === "cancelled") return "Shortening the conversation was stopped";
    return "Shortening the conversation to make room…";
  };
  return (
    <details class="flow-item agent-call">
      <summary>
        <span class="agent-call-title">
          <Visible text={label()} />
        </span>
      </summary>
      <div class="agent-call-body">
        <Visible text={props.of.summary || "No summary was given."} />
      </div>
    </details>
  );
}

function noticeText(notice: Of<"notice">): string {
  if (!notice.retry?.anew) return notice.text;
  return `${notice.text} The answer came out differently: the unfinished one above is void.`;
}

function Folded(props: { label: string; value: unknown }) {
  return (
    <details class="flow-item agent-call">
      <summary>
        <Visible text={props.label} />
      </summary>
      <Fields value={props.value} />
    </details>
  );
}

const marks: Record<string, string> = { completed: "☑", in_progress: "◐", pending: "☐" };

function Plan(props: { entries: PlanEntry[]; running: boolean }) {
  /** Nothing goes on in a plan whose agent has ended, whatever was told of it last. */
  const status = (entry: PlanEntry) =>
    entry.status === "in_progress" && !props.running ? "not_finished" : entry.status;
  return (
    <div class="flow-item plan">
      <span class="plan-title">Plan</span>
      <ul>
        <For each={props.entries}>
          {(entry) => (
            <li classList={{ [status(entry)]: true }}>
              <span aria-hidden="true">{marks[status(entry)] ?? "☐"}</span>
              <span>
                <Visible text={entry.content} />
              </span>
              <span class="visually-hidden">, {status(entry).replaceAll("_", " ")}</span>
              <Show when={entry.priority === "high"}>
                <span class="badge">high</span>
              </Show>
            </li>
          )}
        </For>
      </ul>
    </div>
  );
}
