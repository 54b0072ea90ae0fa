import { createMemo, For, type JSX, Match, Show, Switch } from "solid-js";
import type { AgentToolCall, Update } from "../../api/types";
import { Fields } from "../../kit/Fields";
import { Icon, type IconName, kindIcon } from "../../kit/Icon";
import { Dot, PlusMinus } from "../../kit/small";
import { Visible } from "../../kit/Visible";
import type { ApprovedPart, Flow, GroupPart, Part, TextPart, ThoughtPart, UpdatePart } from "../../state/flow";
import { ApprovedList } from "../ApprovedList";
import { Fold } from "../Fold";
import { Markdown, MarkdownText } from "../markdown/Markdown";
import { NoticeView } from "../NoticeView";
import { CallRow } from "./CallRow";
import { sumOf } from "./hunks";
import { Plan } from "./Plan";
import { declinedCalls, isRunning, mergedWords, type PartRow, type Row, rowsOf, type WorkRow } from "./rows";
import { Thought } from "./Thought";

type Of<Kind extends Update["type"]> = Extract<Update, { type: Kind }>;

interface TimelineProps {
  flow: Flow | null;
  /** The delegation that it belongs to. */
  scope: string;
  running: boolean;
  /** The last so many rows only. */
  tail?: number;
  /** Draws the agent's words where they are the answer itself. */
  words?: ((part: TextPart, isLast: () => boolean) => JSX.Element) | undefined;
}

/** What an agent said and did, in order, along one line. */
export function Timeline(props: TimelineProps) {
  const rows = createMemo(() => {
    const all = rowsOf(props.flow, props.running);
    return props.tail === undefined ? all : all.slice(-props.tail);
  });
  const declined = createMemo(() => declinedCalls(props.flow));
  // By their names, so that a row which grows stays the one it is.
  const ids = createMemo(() => rows().map((row) => row.id));
  const byId = createMemo(() => new Map(rows().map((row) => [row.id, row])));
  return (
    <For each={ids()}>
      {(id) => {
        const row = createMemo<Row | undefined>((before) => byId().get(id) ?? before);
        const isLast = () => ids().at(-1) === id;
        return (
          <Switch>
            <Match when={row()?.kind === "work" && (row() as WorkRow)}>
              {(work) => (
                <Work
                  row={work()}
                  scope={props.scope}
                  running={props.running}
                  declined={declined()}
                  quiet={props.tail !== undefined}
                />
              )}
            </Match>
            <Match when={row()?.kind === "part" && (row() as PartRow).part}>
              {(part) => <PartView {...props} part={part()} isLast={isLast()} />}
            </Match>
          </Switch>
        );
      }}
    </For>
  );
}

/** A row with its sign on the line. */
export function Event(props: { icon?: IconName; dot?: boolean; class?: string; children: JSX.Element }) {
  return (
    <div class={`event ${props.class ?? ""}`}>
      <Show when={props.dot} fallback={<Icon name={props.icon ?? "dot"} />}>
        <Dot status="running" quiet />
      </Show>
      <div class="event-body">{props.children}</div>
    </div>
  );
}

const callOf = (part: UpdatePart) => part.update as AgentToolCall;

function Work(props: { row: WorkRow; scope: string; running: boolean; declined: Set<string>; quiet: boolean }) {
  const calls = createMemo(() => props.row.calls.map(callOf));
  const first = () => calls()[0] as AgentToolCall;
  const single = () => calls().length === 1;
  const runs = () => props.running && calls().some(isRunning) && !props.declined.has(first().id);
  const icon = () => {
    const shown = calls().find((call) => call.kind === "edit") ?? first();
    return single() && props.declined.has(first().id) ? "close" : kindIcon(shown.kind);
  };
  const each = (part: UpdatePart, quiet: boolean) => (
    <CallRow
      call={callOf(part)}
      scope={props.scope}
      stream={part.output?.text}
      heard={part.heard}
      running={props.running}
      declined={props.declined.has(callOf(part).id)}
      quiet={quiet}
    />
  );
  const parts = () => <For each={props.row.calls}>{(part) => each(part, !single() || props.quiet)}</For>;
  return (
    <Event icon={icon()} dot={runs()}>
      <Show when={!single()} fallback={parts()}>
        <Fold
          key={`${props.scope}:${props.row.id}`}
          class="merged"
          head={mergedWords(calls())}
          end={<PlusMinus {...sumOf(calls())} />}
        >
          <div class="merged-rows">{parts()}</div>
        </Fold>
      </Show>
    </Event>
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
        <SubAgent group={props.part as GroupPart} scope={props.scope} running={props.running} />
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
      <Match when={is("plan")}>{(plan) => <Plan entries={plan().entries} running={props.running} key={key()} />}</Match>
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
          <Event icon="close">
            <p class="line">
              <Show
                when={denied().malformed}
                fallback={
                  <span>
                    Declined: <Visible text={denied().title} />
                  </span>
                }
              >
                {(why) => (
                  <span>
                    Refused a malformed permission request: <Visible text={`${denied().title} (${why()})`} />
                  </span>
                )}
              </Show>
            </p>
          </Event>
        )}
      </Match>
      <Match when={is("compaction")}>
        {(compaction) => (
          <Event icon="archive">
            <Fold key={key()} head={<Visible text={compactionWords(compaction())} />}>
              <div class="fold-text">
                <MarkdownText text={compaction().summary || "No summary was given."} />
              </div>
            </Fold>
          </Event>
        )}
      </Match>
      <Match when={is("user_message")}>
        {(message) => (
          <Event icon="send">
            <blockquote class="flow-quote">
              <MarkdownText text={message().text} />
            </blockquote>
          </Event>
        )}
      </Match>
      <Match when={is("content")}>{(part) => <Other key={key()} label="Attachment" value={part().content} />}</Match>
      <Match when={is("unknown")}>{(other) => <Other key={key()} label={other().kind} value={other().raw} />}</Match>
    </Switch>
  );
}

function Other(props: { key: string; label: string; value: unknown }) {
  return (
    <Event icon="other">
      <Fold key={props.key} head={<Visible text={props.label} />}>
        <Fields value={props.value} />
      </Fold>
    </Event>
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

function SubAgent(props: { group: GroupPart; scope: string; running: boolean }) {
  const count = () => props.group.parts.length;
  const runs = () => props.running && props.group.parts.some((part) => isRunning(callOf(part)));
  return (
    <Event icon="agents" dot={runs()} class="sub-agent">
      <Fold
        key={`${props.scope}:${props.group.id}`}
        open
        head={
          <>
            Sub-agent <Visible text={shortId(props.group.agent)} />
          </>
        }
        end={count() === 1 ? "1 call" : `${count()} calls`}
      >
        <div class="merged-rows">
          <For each={props.group.parts}>
            {(part) => (
              <CallRow
                call={callOf(part)}
                scope={props.scope}
                stream={part.output?.text}
                heard={part.heard}
                running={props.running}
                quiet
              />
            )}
          </For>
        </div>
      </Fold>
    </Event>
  );
}

function compactionWords(of: Of<"compaction">): string {
  if (of.status === "completed") return "The conversation was shortened to make room";
  if (of.status === "failed") return `Shortening the conversation failed: ${of.error ?? "no reason given"}`;
  if (of.status === "cancelled") return "Shortening the conversation was stopped";
  return "Shortening the conversation to make room…";
}

function noticeText(notice: Of<"notice">): string {
  if (!notice.retry?.anew) return notice.text;
  return `${notice.text} The answer came out differently: the unfinished one above is void.`;
}
