import { createMemo, For, Match, onMount, Show, Switch } from "solid-js";
import type { AgentToolCall, ToolContent } from "../api/types";
import { countChanges } from "../diff/lines";
import { type TextStream, wholeText } from "../state/text";
import { readChange, readCommand, readOutput, repeats } from "./callText";
import { DiffLines } from "./DiffLines";
import { Fields } from "./Fields";
import { Icon, kindIcon } from "./Icon";
import { usePath } from "./paths";
import { Spinner } from "./Spinner";
import { StreamText } from "./StreamText";
import { createStick } from "./stick";
import { Visible } from "./Visible";

/** A change longer than this starts folded. */
const open_lines = 40;

interface AgentCallProps {
  call: AgentToolCall;
  /** What it prints, where that comes a piece at a time. */
  stream?: TextStream | undefined;
}

/** A tool call of the agent's own. */
export function AgentCall(props: AgentCallProps) {
  const diffs = createMemo(() =>
    (props.call.content ?? []).flatMap((part) =>
      part.type === "diff" ? [{ path: part.path, ...readChange(props.call, part) }] : [],
    ),
  );
  const shown = usePath();
  const texts = createMemo(() =>
    (props.call.content ?? [])
      .flatMap((part) => (part.type === "text" ? [part.text] : []))
      .join("\n")
      .trimEnd(),
  );
  const command = createMemo(() => readCommand(props.call.input));
  const streams = createMemo(() => (props.stream?.length ?? 0) > 0);
  /** What was streamed is told once more at the end by some agents, and is not shown twice. */
  const output = createMemo(() => {
    const whole = texts() || (diffs().length > 0 ? "" : readOutput(props.call.output));
    if (!streams() || !props.stream) return whole;
    return isOpen(props.call) || repeats(wholeText(props.stream), whole) ? "" : whole;
  });
  const lineCount = createMemo(() => diffs().reduce((sum, diff) => sum + diff.lines.length, 0));
  /** Short changes, and what is being printed. */
  const open = createMemo(() => (lineCount() > 0 ? lineCount() <= open_lines : streams() && isOpen(props.call)));
  const title = () => shown(props.call.title ?? "") || command() || props.call.kind || "Tool call";
  /** A diff names its file itself. */
  const locations = createMemo(() =>
    (props.call.locations ?? []).filter((place) => !diffs().some((diff) => diff.path === place.path)),
  );
  const isBare = () => !command() && !output() && !streams() && diffs().length === 0;

  return (
    <details class="flow-item agent-call" open={open()}>
      <summary>
        <Icon name={kindIcon(props.call.kind)} />
        <span class="agent-call-title">
          <Visible text={title()} />
        </span>
        <For each={diffs()}>{(diff) => <ChangeCount lines={diff.lines} />}</For>
        <Show when={props.call.exit_code != null && props.call.exit_code !== 0}>
          <span class="badge bad">exit {props.call.exit_code}</span>
        </Show>
        <Status status={props.call.status} />
      </summary>
      <div class="agent-call-body">
        <Show when={locations().length > 0}>
          <ul class="locations" aria-label="Places">
            <For each={locations()}>
              {(place) => (
                <li>
                  <Visible text={place.line == null ? shown(place.path) : `${shown(place.path)}:${place.line}`} />
                </li>
              )}
            </For>
          </ul>
        </Show>
        <Show when={command()}>
          {(text) => (
            <code class="command">
              <Visible text={text()} />
            </code>
          )}
        </Show>
        <For each={diffs()}>
          {(diff) => <DiffLines path={shown(diff.path)} isPart={diff.isPart} lines={diff.lines} />}
        </For>
        <Show when={streams() && props.stream}>{(text) => <PrintedText text={text()} />}</Show>
        <Show when={output()}>
          {(text) => (
            <div class="agent-output" tabindex="0" role="group" aria-label="Output">
              <Visible text={text()} />
            </div>
          )}
        </Show>
        <For each={props.call.content}>{(part) => <OtherContent part={part} />}</For>
        <Show when={props.call.exit_code != null}>
          <span class="flow-note">exit code {props.call.exit_code}</span>
        </Show>
        <Show when={isBare() && props.call.input !== undefined && props.call.input !== null}>
          <Fields value={props.call.input} />
        </Show>
      </div>
    </details>
  );
}

/** Grows, and stays at its end until somebody scrolls up. */
function PrintedText(props: { text: TextStream }) {
  const stick = createStick();
  let scroller!: HTMLDivElement;
  let content!: HTMLDivElement;
  onMount(() => stick.attach(scroller, content));
  return (
    <div ref={scroller} class="agent-output" tabindex="0" role="group" aria-label="Output">
      <div ref={content}>
        <StreamText text={props.text} />
      </div>
    </div>
  );
}

const ended = ["completed", "failed", "rejected", "cancelled", "interrupted"];

function isOpen(call: AgentToolCall): boolean {
  return !ended.includes(call.status ?? "");
}

function OtherContent(props: { part: ToolContent }) {
  return <Show when={props.part.type === "other" && props.part}>{(part) => <Fields value={part().raw} />}</Show>;
}

function ChangeCount(props: { lines: Parameters<typeof countChanges>[0] }) {
  const count = createMemo(() => countChanges(props.lines));
  return (
    <span class="change-count">
      <span class="plus">+{count().added}</span> <span class="minus">−{count().removed}</span>
    </span>
  );
}

function Status(props: { status: string | null | undefined }) {
  return (
    <Switch fallback={<span class="call-status">{props.status?.replaceAll("_", " ")}</span>}>
      <Match when={props.status === "completed"}>
        <span class="call-status good">
          <span aria-hidden="true">✓</span>
          <span class="visually-hidden">completed</span>
        </span>
      </Match>
      <Match when={props.status === "in_progress" || props.status === "pending"}>
        <span class="call-status">
          <Spinner label={props.status === "pending" ? "pending" : "in progress"} />
        </span>
      </Match>
      <Match when={props.status === "failed"}>
        <span class="call-status bad">✕ failed</span>
      </Match>
      <Match when={props.status === "rejected"}>
        <span class="call-status">not allowed</span>
      </Match>
      <Match when={props.status === "interrupted"}>
        <span class="call-status bad">interrupted</span>
      </Match>
      <Match when={props.status === "cancelled"}>
        <span class="call-status">stopped</span>
      </Match>
    </Switch>
  );
}
