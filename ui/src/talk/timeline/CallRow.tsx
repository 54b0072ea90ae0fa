import { createMemo, For, Match, Show, Switch } from "solid-js";
import type { AgentToolCall, DiffHunk, ToolContent } from "../../api/types";
import { Fields } from "../../kit/Fields";
import { Icon } from "../../kit/Icon";
import { later } from "../../kit/later";
import { PlusMinus, Tag } from "../../kit/small";
import { Visible } from "../../kit/Visible";
import type { Heard } from "../../state/flow";
import { type TextStream, wholeText } from "../../state/text";
import { readCommand, readOutput, repeats } from "../callText";
import { Fold } from "../Fold";
import { usePath } from "../paths";
import { createSpan, spanText, tookText } from "../spans";
import { changesOf } from "./hunks";
import { OutputText } from "./OutputText";
import { callWords, isDeclined, isRunning } from "./rows";

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
  /** Somebody did not allow it, whatever the agent says of it. */
  declined?: boolean;
  /** Among others in an open row: then it stays folded unless it is asked for. */
  quiet?: boolean;
}

/** A tool call of the agent's own: a line that opens its change or its output. */
export function CallRow(props: CallRowProps) {
  const path = usePath();
  const runs = createMemo(() => props.running && isRunning(props.call) && !props.declined);
  const changes = createMemo(() => changesOf(props.call));
  const words = createMemo(() => callWords(props.call, props.running, path));
  const texts = createMemo(() =>
    (props.call.content ?? [])
      .flatMap((part) => (part.type === "text" ? [part.text] : []))
      .join("\n")
      .trimEnd(),
  );
  /** What was streamed is told once more at the end by some agents, and is not shown twice. */
  const output = createMemo(() => {
    const streamed = props.stream && props.stream.length > 0 ? wholeText(props.stream) : "";
    const whole = texts() || (changes().length > 0 ? "" : readOutput(props.call.output));
    if (streamed === "") return whole;
    return runs() || whole === "" || repeats(streamed, whole) ? streamed : `${streamed.trimEnd()}\n${whole}`;
  });
  const lines = () => changes().reduce((sum, change) => sum + change.additions + change.deletions, 0);
  const open = () => {
    // What is still asked for is shown by the question.
    if (runs()) return output() !== "" || (changes().length > 0 && props.call.status !== "pending");
    return !props.quiet && changes().length > 0 && lines() <= open_lines;
  };
  return (
    <Fold
      key={`${props.scope}:${props.call.id}`}
      class="agent-call"
      open={open()}
      head={
        <span class="agent-call-title">
          <Visible text={words().text} />
          <Show when={words().code}>
            {" "}
            <code>
              <Visible text={words().code} />
            </code>
          </Show>
          <Show when={changes().length === 1 && changes()[0]?.isNew && words().code}>
            {" "}
            <Tag>new</Tag>
          </Show>
        </span>
      }
      end={
        <End
          call={props.call}
          scope={props.scope}
          heard={props.heard}
          runs={runs()}
          declined={props.declined ?? false}
        />
      }
    >
      <CallBody call={props.call} output={output()} runs={runs()} shownCode={words().code} />
    </Fold>
  );
}

/** How it stands, at the end of its line. */
function End(props: { call: AgentToolCall; scope: string; heard: Heard | null; runs: boolean; declined: boolean }) {
  const span = createSpan(`${props.scope}:${props.call.id}`, () => props.runs);
  const sum = createMemo(() => {
    const changes = changesOf(props.call);
    return {
      additions: changes.reduce((all, change) => all + change.additions, 0),
      deletions: changes.reduce((all, change) => all + change.deletions, 0),
    };
  });
  const time = () => (props.runs ? spanText(span()) : tookText(props.heard));
  return (
    <>
      <PlusMinus {...sum()} />
      <Show when={props.call.exit_code != null && props.call.exit_code !== 0}>
        <span class="bad">exit {props.call.exit_code}</span>
      </Show>
      <Switch fallback={<span class="call-status">{words(props.call.status)}</span>}>
        <Match when={props.declined || isDeclined(props.call)}>
          <span class="call-status">Declined</span>
        </Match>
        <Match when={props.runs}>
          <span class="visually-hidden">{props.call.status === "pending" ? "pending" : "in progress"}</span>
        </Match>
        <Match when={props.call.status === "completed"}>
          <Icon name="check" size="small" />
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

function words(status: string | null | undefined): string {
  if (status === "cancelled") return "stopped";
  // Nothing is in progress any more where the agent has ended.
  return status === "pending" || status === "in_progress" ? "not finished" : (status?.replaceAll("_", " ") ?? "");
}

function CallBody(props: { call: AgentToolCall; output: string; runs: boolean; shownCode: string }) {
  const path = usePath();
  const changes = createMemo(() => changesOf(props.call));
  const command = createMemo(() => readCommand(props.call.input));
  /** A diff names its file itself. */
  const locations = createMemo(() =>
    (props.call.locations ?? []).filter((place) => !changes().some((change) => change.path === place.path)),
  );
  const isBare = () => !command() && !props.output && changes().length === 0;
  return (
    <div class="agent-call-body">
      <Show when={locations().length > 0}>
        <ul class="locations" aria-label="Places">
          <For each={locations()}>
            {(place) => (
              <li>
                <Visible text={place.line == null ? path(place.path) : `${path(place.path)}:${place.line}`} />
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
                  <Visible text={path(change.path)} />
                </code>{" "}
                <Show when={change.isPart}>
                  <Tag>only the changed part</Tag>
                </Show>
              </p>
            </Show>
            <div ref={(place) => keepRoom(place, change.hunks)}>
              <CallDiff path={path(change.path)} hunks={change.hunks} withoutNumbers={change.isPart} />
            </div>
          </>
        )}
      </For>
      <Show when={props.output}>
        <OutputText text={props.output} running={props.runs} />
      </Show>
      <For each={props.call.content}>{(part) => <OtherContent part={part} />}</For>
      <Show when={isBare() && props.call.input != null}>
        <Fields value={props.call.input} />
      </Show>
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
