import { createMemo, For, type JSX, Match, Show, Switch } from "solid-js";
import type { AgentToolCall, DiffHunk, ToolContent } from "../../api/types";
import { Icon } from "../../kit/Icon";
import { later } from "../../kit/later";
import { PlusMinus, Tag } from "../../kit/small";
import { Visible } from "../../kit/Visible";
import type { Heard } from "../../state/flow";
import { type TextStream, wholeText } from "../../state/text";
import { readCommand, readOutput, repeats } from "../callText";
import { Fold } from "../Fold";
import { Fields } from "../laterFields";
import { PathText } from "../PathText";
import { usePath } from "../paths";
import { RawLines } from "../rawLater";
import { createSpan, spanText, tookText } from "../spans";
import { changesOf, sumOf } from "./hunks";
import { OutputText } from "./OutputText";
import { callWords, isDeclined, isRunning, isUnapplied, type Words } from "./rows";

const CallDiff = later(async () => (await import("./CallDiff")).CallDiff);

/** A change longer than this starts folded. */
const open_lines = 40;

interface CallRowProps {
  call: AgentToolCall;
  /** Distinguishes it from the same id of another delegation. */
  scope: string;
  /** What it prints, where that comes a piece at a time. */
  stream?: TextStream | undefined;
  heard: Heard | null;
  /** Its agent is at work. */
  running: boolean;
  /** Among others in an open row: then it stays folded unless it is asked for. */
  quiet?: boolean;
  /** What was done beside it, in words: "thought for 2 s". */
  beside?: string;
  /** Above its own output. */
  children?: JSX.Element;
}

/** A tool call of the agent's own: a line that opens its change or its output. */
export function CallRow(props: CallRowProps) {
  const path = usePath();
  const runs = createMemo(() => props.running && isRunning(props.call));
  const words = createMemo(() => callWords(props.call, props.running, path));
  const lines = () => changesOf(props.call).reduce((sum, change) => sum + change.additions + change.deletions, 0);
  const open = () => {
    const count = lines();
    // What is still asked for is shown by the question.
    if (runs()) return outputOf(props, true) !== "" || (count > 0 && props.call.status !== "pending");
    return !props.quiet && count > 0 && count <= open_lines;
  };
  return (
    <Fold
      key={`${props.scope}:${props.call.id}`}
      class="agent-call"
      open={open()}
      head={
        <>
          <CallTitle call={props.call} words={words()} />
          <Show when={props.beside}>{(beside) => <span class="soft">, {beside()}</span>}</Show>
        </>
      }
      end={<CallEnd call={props.call} scope={props.scope} heard={props.heard} runs={runs()} />}
    >
      {props.children}
      <CallBody {...props} shownCode={words().code} />
    </Fold>
  );
}

/** What it is called. What never came to be is struck out. */
export function CallTitle(props: { call: AgentToolCall; words: Words }) {
  const isNew = () => {
    const changes = changesOf(props.call);
    return changes.length === 1 && changes[0]?.isNew && !isUnapplied(props.call) && props.words.code !== "";
  };
  const code = () => (
    <code>
      <Visible text={props.words.code} />
    </code>
  );
  return (
    <span class="agent-call-title">
      <Show
        when={isUnapplied(props.call)}
        fallback={
          <>
            <Visible text={props.words.text} />
            <Show when={props.words.code}> {code()}</Show>
          </>
        }
      >
        <b class="not-applied">
          <Visible text={props.words.text} />
        </b>
        <Show when={props.words.code}>
          {" "}
          <s>{code()}</s>
        </Show>
      </Show>
      <Show when={isNew()}>
        {" "}
        <Tag>new</Tag>
      </Show>
    </span>
  );
}

/** Why something never came to be: who decided it, where that is known. */
const deciders: Record<string, string> = {
  person: "by you",
  mcp: "by a program",
  policy: "by the policy",
  rule: "by a rule",
  timeout: "after no answer",
};

interface CallEndProps {
  call: AgentToolCall;
  scope: string;
  heard: Heard | null;
  runs: boolean;
  /** Beside the agent's name: what went well says nothing, the time stands below the answer. */
  brief?: boolean;
}

/** How it stands, at the end of its line. */
export function CallEnd(props: CallEndProps) {
  const span = createSpan(`${props.scope}:${props.call.id}`, () => props.runs);
  const sum = createMemo(() => sumOf([props.call]));
  const time = () => {
    if (isUnapplied(props.call)) return "";
    return props.runs ? spanText(span()) : props.brief ? "" : tookText(props.heard);
  };
  return (
    <>
      <PlusMinus {...sum()} />
      <Show when={props.call.exit_code != null && props.call.exit_code !== 0}>
        <span class="bad">exit {props.call.exit_code}</span>
      </Show>
      <Switch fallback={<span class="call-status">{statusWords(props.call.status)}</span>}>
        <Match when={isDeclined(props.call)}>
          <span class="call-status">
            declined<span class="decider"> {deciders[props.call.declined_by ?? ""] ?? ""}</span>
          </span>
        </Match>
        <Match when={props.runs}>
          <span class="visually-hidden">{props.call.status === "pending" ? "pending" : "in progress"}</span>
        </Match>
        <Match when={props.call.status === "completed"}>
          <Show when={!props.brief}>
            <Icon name="check" size="small" />
          </Show>
          <span class="visually-hidden">done</span>
        </Match>
        <Match when={props.call.status === "failed"}>
          <span class="call-status bad">failed</span>
        </Match>
      </Switch>
      {time()}
    </>
  );
}

function statusWords(status: string | null | undefined): string {
  if (status === "cancelled") return "stopped";
  // Nothing is in progress any more where the agent has ended.
  return status === "pending" || status === "in_progress" ? "not finished" : (status?.replaceAll("_", " ") ?? "");
}

/** What was streamed is told once more at the end by some agents, and is not shown twice. */
function outputOf({ call, stream }: Pick<CallRowProps, "call" | "stream">, runs: boolean): string {
  const streamed = stream && stream.length > 0 ? wholeText(stream) : "";
  const texts = (call.content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : []));
  const whole = texts.join("\n").trimEnd() || (changesOf(call).length > 0 ? "" : readOutput(call.output));
  if (streamed === "") return whole;
  return runs || whole === "" || repeats(streamed, whole) ? streamed : `${streamed.trimEnd()}\n${whole}`;
}

interface CallBodyProps {
  call: AgentToolCall;
  stream?: TextStream | undefined;
  running: boolean;
  /** Stands in its line already. */
  shownCode: string;
}

/** What a call is about, in full, and what it printed. */
export function CallBody(props: CallBodyProps) {
  const path = usePath();
  const runs = () => props.running && isRunning(props.call);
  const output = createMemo(() => outputOf(props, runs()));
  const changes = createMemo(() => changesOf(props.call));
  const command = createMemo(() => readCommand(props.call.input));
  /** A diff names its file itself. */
  const locations = createMemo(() =>
    (props.call.locations ?? []).filter((place) => !changes().some((change) => change.path === place.path)),
  );
  /** The file that only its line names: what opens and closes a row cannot be a link as well. */
  const named = () => (changes().length === 1 && !changes()[0]?.isPart ? path(changes()[0]?.path ?? "") : "");
  const isBare = () => !command() && !output() && changes().length === 0;
  return (
    <div class="agent-call-body">
      <Show when={locations().length > 0}>
        <ul class="locations" aria-label="Places">
          <For each={locations()}>
            {(place) => (
              <li>
                <PathText text={place.line == null ? path(place.path) : `${path(place.path)}:${place.line}`} />
              </li>
            )}
          </For>
        </ul>
      </Show>
      <Show when={command() !== props.shownCode && command()}>
        {(text) => (
          <code class="command">
            <Visible text={text()} />
          </code>
        )}
      </Show>
      <For each={changes()}>
        {(change) => (
          <>
            <Show when={changes().length > 1 || change.isPart}>
              <p class="change-path">
                <code>
                  <PathText text={path(change.path)} />
                </code>{" "}
                <Show when={change.isPart}>
                  <Tag>only the changed part</Tag>
                </Show>
              </p>
            </Show>
            <div class={isUnapplied(props.call) ? "ghost" : undefined} ref={(place) => keepRoom(place, change.hunks)}>
              <CallDiff path={path(change.path)} hunks={change.hunks} withoutNumbers={change.isPart} />
            </div>
          </>
        )}
      </For>
      <Show when={output()}>
        <OutputText text={output()} running={runs()} />
      </Show>
      <For each={props.call.content}>{(part) => <OtherContent part={part} />}</For>
      <Show when={isBare() && props.call.input != null}>
        <Fields value={props.call.input} />
      </Show>
      <RawLines text={props.call.id} file={named()} />
    </div>
  );
}

const line_px = 20;
const tallest_px = 480;

/** The first change of a page comes when what draws it is loaded: nothing below it moves then. */
function keepRoom(place: HTMLElement, hunks: DiffHunk[]): void {
  const lines = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  place.style.minHeight = `${Math.min(tallest_px, lines * line_px)}px`;
}

function OtherContent(props: { part: ToolContent }) {
  return <Show when={props.part.type === "other" && props.part}>{(part) => <Fields value={part().raw} />}</Show>;
}
