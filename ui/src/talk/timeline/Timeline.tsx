import { createMemo, For, type JSX, Match, Show, Switch } from "solid-js";
import type { AgentToolCall, PermissionRequest, Update } from "../../api/types";
import { duration } from "../../kit/duration";
import { Icon, type IconName, kindIcon } from "../../kit/Icon";
import { Dot, PlusMinus } from "../../kit/small";
import { clock } from "../../kit/time";
import { Visible } from "../../kit/Visible";
import type { ApprovedPart, Flow, GroupPart, Part, TextPart, ThoughtPart, UpdatePart } from "../../state/flow";
import { showQuestion } from "../ask/shown";
import { Fold } from "../Fold";
import { Markdown } from "../markdown/Markdown";
import { NoticeView } from "../NoticeView";
import { useHeld } from "../nextSteps";
import { usePath } from "../paths";
import { CallBody, CallEnd, CallRow, CallTitle } from "./CallRow";
import { sumOf } from "./hunks";
import { Plan, PlanSteps } from "./Plan";
import { ApprovedList, HeldLine, isRare, RareUpdate, SubAgent, ViewRule } from "./rare";
import {
  besideWords,
  callWords,
  declinedCalls,
  isRunning,
  isUnapplied,
  mergedWords,
  type PartRow,
  type Row,
  rowsOf,
  thoughtWords,
  truthOf,
  type WaitRow,
  type WorkRow,
} from "./rows";
import { Thought, ThoughtFold } from "./Thought";

type Of<Kind extends Update["type"]> = Extract<Update, { type: Kind }>;

interface TimelineProps {
  flow: Flow | null;
  /** The delegation that it belongs to. */
  scope: string;
  running: boolean;
  /** What waits for an answer in it. */
  asks?: readonly PermissionRequest[] | undefined;
  /** The rows, where somebody has made them; else all of the flow. */
  rows?: Row[] | undefined;
  /** The last so many rows only. */
  tail?: number;
  /** Draws the agent's words where they are the answer itself. */
  words?: ((part: TextPart, isLast: () => boolean) => JSX.Element) | undefined;
}

/** What an agent said and did, in order, along one line. */
export function Timeline(props: TimelineProps) {
  const rows = createMemo(() => {
    const all = props.rows ?? rowsOf(props.flow, { running: props.running, asks: props.asks ?? [] });
    return props.tail === undefined ? all : all.slice(-props.tail);
  });
  const lastPart = () => props.flow?.parts.at(-1)?.id;
  // By their names, so that a row which grows stays the one it is.
  const ids = createMemo(() => rows().map((row) => row.id));
  const byId = createMemo(() => new Map(rows().map((row) => [row.id, row])));
  return (
    <For each={ids()}>
      {(id) => {
        const row = createMemo<Row | undefined>((before) => byId().get(id) ?? before);
        return (
          <Switch>
            <Match when={row()?.kind === "work" && (row() as WorkRow)}>
              {(work) => (
                <Work
                  row={work()}
                  flow={props.flow}
                  scope={props.scope}
                  running={props.running}
                  quiet={props.tail !== undefined}
                />
              )}
            </Match>
            <Match when={row()?.kind === "wait" && (row() as WaitRow)}>
              {(wait) => <Waits request={wait().request} call={wait().call} />}
            </Match>
            <Match when={row()?.kind === "part" && (row() as PartRow).part}>
              {(part) => <PartView {...props} part={part()} isLast={lastPart() === part().id} />}
            </Match>
          </Switch>
        );
      }}
    </For>
  );
}

/** A row with its sign on the line. */
export function Event(props: { icon?: IconName; dot?: boolean | "waiting"; class?: string; children: JSX.Element }) {
  return (
    <div class={`event ${props.class ?? ""}`}>
      <Show when={props.dot} fallback={<Icon name={props.icon ?? "dot"} />}>
        {(dot) => <Dot status={dot() === "waiting" ? "waiting" : "running"} quiet />}
      </Show>
      <div class="event-body">{props.children}</div>
    </div>
  );
}

/** What waits for an answer. The question is in the dock, and comes up from here. */
function Waits(props: { request: PermissionRequest; call: AgentToolCall | null }) {
  const isHeld = useHeld();
  return (
    <Event icon="no" dot={!isHeld(props.request) && "waiting"} class="waits">
      <WaitLine request={props.request} call={props.call} />
    </Event>
  );
}

export function WaitLine(props: { request: PermissionRequest; call: AgentToolCall | null }) {
  const path = usePath();
  const isHeld = useHeld();
  const asked = () => (
    <code class="cut">
      <Visible text={askedText(props.request, props.call, path)} />
    </code>
  );
  return (
    <Show
      when={isHeld(props.request)}
      fallback={
        <button type="button" class="line wait-line" onClick={() => showQuestion(props.request.request_id)}>
          <span class="wait-word">Waiting for you</span> {asked()}
          <span class="line-end num">asked at {clock(props.request.asked_at ?? "")}</span>
        </button>
      }
    >
      <HeldLine id={props.request.request_id}>{asked()}</HeldLine>
    </Show>
  );
}

interface WorkProps {
  row: WorkRow;
  flow: Flow | null;
  scope: string;
  running: boolean;
}

function Work(props: WorkProps & { quiet: boolean }) {
  const declined = createMemo(() => declinedCalls(props.flow));
  const calls = createMemo(() => props.row.calls.map((part) => truthOf(part.update as AgentToolCall, declined())));
  const only = () => (props.row.calls.length === 1 ? (props.row.calls[0] ?? null) : null);
  const runs = () => props.running && calls().some(isRunning);
  const icon = (): IconName => {
    const [first] = calls();
    if (!first) return props.row.thoughts.length > 0 ? "think" : props.row.plan.length > 0 ? "plan" : "shield";
    if (calls().length === 1 && isUnapplied(first)) return "no";
    return kindIcon((calls().find((call) => call.kind === "edit") ?? first).kind);
  };
  return (
    <Event icon={icon()} dot={runs()}>
      <Show when={only()} fallback={<MergedRow {...props} calls={calls()} />}>
        {(part) => (
          <CallRow
            call={calls()[0] as AgentToolCall}
            scope={props.scope}
            stream={part().output?.text}
            heard={part().heard}
            running={props.running}
            quiet={props.quiet}
            beside={besideWords(props.row, duration)}
          >
            <Beside row={props.row} scope={props.scope} running={props.running} />
          </CallRow>
        )}
      </Show>
    </Event>
  );
}

function MergedRow(props: WorkProps & { calls: AgentToolCall[] }) {
  return (
    <Fold
      key={`${props.scope}:${props.row.id}`}
      class="merged"
      eager={props.row.approved.length > 0}
      head={<RowTitle row={props.row} calls={props.calls} running={props.running} />}
      end={<PlusMinus {...sumOf(props.calls)} />}
    >
      <MergedBody {...props} />
    </Fold>
  );
}

function MergedBody(props: WorkProps & { calls: AgentToolCall[] }) {
  return (
    <div class="merged-rows">
      <Beside row={props.row} scope={props.scope} running={props.running} />
      <For each={props.row.calls}>
        {(part, index) => (
          <CallRow
            call={props.calls[index()] ?? (part.update as AgentToolCall)}
            scope={props.scope}
            stream={part.output?.text}
            heard={part.heard}
            running={props.running}
            quiet
          />
        )}
      </For>
    </div>
  );
}

/** What a row holds besides its calls: the one step that it is, what was thought, what was allowed by itself. */
function Beside(props: Omit<WorkProps, "flow">) {
  return (
    <>
      <Show when={props.row.plan.length > 0}>
        <PlanSteps entries={props.row.plan} running={props.running} />
      </Show>
      <For each={props.row.thoughts}>{(part) => <ThoughtFold part={part} scope={props.scope} running={false} />}</For>
      <For each={props.row.approved}>
        {(part) => <ApprovedList approvals={part.approvals} scope={`${props.scope}:${part.id}`} />}
      </For>
    </>
  );
}

/** A row in words, without what it opens. */
function RowTitle(props: { row: WorkRow; calls: AgentToolCall[]; running: boolean; inSentence?: boolean }) {
  const path = usePath();
  const lower = (text: string) => (props.inSentence ? text.slice(0, 1).toLowerCase() + text.slice(1) : text);
  const beside = () => besideWords(props.row, duration);
  return (
    <Show when={props.calls.length > 0} fallback={lower(thoughtWords(props.row, duration))}>
      <Show when={props.calls.length === 1 && props.calls[0]} fallback={lower(mergedWords(props.calls))}>
        {(call) => {
          const words = () => callWords(call(), props.running, path);
          return <CallTitle call={call()} words={{ ...words(), text: lower(words().text) }} />;
        }}
      </Show>
      <Show when={beside()}>, {beside()}</Show>
    </Show>
  );
}

/** All that an agent did before it spoke, beside its name. It opens below. */
export function LeadLine(props: WorkProps & { isOpen: boolean; onToggle(): void; id: string }) {
  const declined = createMemo(() => declinedCalls(props.flow));
  const calls = createMemo(() => props.row.calls.map((part) => truthOf(part.update as AgentToolCall, declined())));
  const only = () => (props.row.calls.length === 1 ? (props.row.calls[0] ?? null) : null);
  return (
    <button
      type="button"
      class="line lead"
      aria-expanded={props.isOpen}
      aria-controls={props.isOpen ? props.id : undefined}
      onClick={() => props.onToggle()}
    >
      <span class="cut line-words">
        <RowTitle row={props.row} calls={calls()} running={props.running} inSentence />
      </span>
      <Icon name="next" size="small" />
      <Show when={only()}>
        {(part) => (
          <span class="lead-end num">
            <CallEnd
              call={calls()[0] as AgentToolCall}
              scope={props.scope}
              heard={part().heard}
              runs={props.running && calls().some(isRunning)}
              brief
            />
          </span>
        )}
      </Show>
    </button>
  );
}

/** What that line opens. */
export function LeadBody(props: WorkProps & { id: string }) {
  const path = usePath();
  const declined = createMemo(() => declinedCalls(props.flow));
  const calls = createMemo(() => props.row.calls.map((part) => truthOf(part.update as AgentToolCall, declined())));
  const only = () => (props.row.calls.length === 1 ? (props.row.calls[0] ?? null) : null);
  return (
    <div class="lead-body" id={props.id}>
      <Show when={only()} fallback={<MergedBody {...props} calls={calls()} />}>
        {(part) => (
          <>
            <Beside row={props.row} scope={props.scope} running={props.running} />
            <CallBody
              call={calls()[0] as AgentToolCall}
              stream={part().output?.text}
              running={props.running}
              shownCode={callWords(calls()[0] as AgentToolCall, props.running, path).code}
            />
          </>
        )}
      </Show>
    </div>
  );
}

function PartView(props: TimelineProps & { part: Part; isLast: boolean }) {
  return (
    <Switch>
      <Match when={props.part.type === "text"}>
        <Show
          when={props.words}
          fallback={
            <Event icon="comment" class="says">
              <Markdown
                class="copilot-text"
                text={(props.part as TextPart).text}
                streaming={props.running && props.isLast}
              />
            </Event>
          }
        >
          {(words) => words()(props.part as TextPart, () => props.isLast)}
        </Show>
      </Match>
      <Match when={props.part.type === "thought"}>
        <Thought part={props.part as ThoughtPart} scope={props.scope} running={props.running && props.isLast} />
      </Match>
      <Match when={props.part.type === "group"}>
        <SubAgent group={props.part as GroupPart} scope={props.scope} running={props.running} asks={props.asks} />
      </Match>
      <Match when={props.part.type === "approved"}>
        <Event icon="shield">
          <ApprovedList approvals={(props.part as ApprovedPart).approvals} scope={`${props.scope}:${props.part.id}`} />
        </Event>
      </Match>
      <Match when={props.part.type === "update"}>
        <UpdateView part={props.part as UpdatePart} scope={props.scope} running={props.running} />
      </Match>
    </Switch>
  );
}

function UpdateView(props: { part: UpdatePart; scope: string; running: boolean }) {
  const is = <Kind extends Update["type"]>(kind: Kind) =>
    (props.part.update.type === kind ? props.part.update : undefined) as Of<Kind> | undefined;
  const key = () => `${props.scope}:${props.part.id}`;
  return (
    <Switch>
      <Match when={is("plan")}>
        {(plan) => <Plan entries={plan().entries} heard={props.part.heard} running={props.running} key={key()} />}
      </Match>
      <Match when={is("mode")}>
        {(mode) => (
          <Event icon="bolt">
            <p class="line">
              Mode: <Visible text={lastPart(mode().mode_id)} />
            </p>
          </Event>
        )}
      </Match>
      <Match when={is("notice")}>
        {(notice) => (
          <Event icon={notice().level === "info" ? "info" : "warning"}>
            <NoticeView notice={{ level: notice().level, title: "", text: noticeText(notice()) }} />
          </Event>
        )}
      </Match>
      <Match when={is("denied")}>
        {(denied) => (
          <Event icon="no">
            <p class="line">
              <Show
                when={denied().malformed}
                fallback={
                  <span>
                    <b class="not-applied">{denied().by === "rule" ? "Denied by a rule:" : "Declined"}</b>{" "}
                    <s>
                      <Visible text={denied().title} />
                    </s>
                  </span>
                }
              >
                {(why) => (
                  <span>
                    Refused a malformed permission request: <Visible text={`${denied().title} (${why()})`} />
                  </span>
                )}
              </Show>
              <Show when={denied().rule_id}>{(id) => <ViewRule id={id()} />}</Show>
            </p>
          </Event>
        )}
      </Match>
      <Match when={isRare(props.part.update)}>
        <RareUpdate update={props.part.update} key={key()} />
      </Match>
    </Switch>
  );
}

/** Some agents name their modes by addresses. */
function lastPart(id: string): string {
  return id.slice(id.lastIndexOf("#") + 1);
}

/** What an agent wants to do, as short as it can be said. */
function askedText(request: PermissionRequest, call: AgentToolCall | null, path: (text: string) => string): string {
  if (request.command) return request.command.split("\n", 1)[0] ?? "";
  const words = call ? callWords(call, false, path).code : "";
  return words || request.files?.[0]?.path || path(request.title);
}

function noticeText(notice: Of<"notice">): string {
  if (!notice.retry?.anew) return notice.text;
  return `${notice.text} The new answer differs. It replaces the unfinished one above.`;
}
