import { createEffect, createMemo, createSignal, For, type JSX, on, onCleanup, Show } from "solid-js";
import { sentence } from "../api/client";
import type { DiffHunk } from "../api/types";
import { Visible } from "../kit/Visible";
import { visible } from "../state/visible";
import { createColours } from "./colours";
import { type Columns, DiffRow, widths } from "./DiffRow";
import { Near } from "./near";
import {
  chunksOf,
  contextOf,
  type GapRow,
  type Mode,
  numberAt,
  type Row,
  rowsOf,
  type Shown,
  type Side,
  sidesOf,
} from "./rows";

/** Lines of one side, from the first to the last. */
export interface Range {
  side: Side;
  from: number;
  to: number;
}

/** What stands beneath a line: a comment, or one that is being written. */
export interface Note {
  kind: "note";
  side: Side;
  line: number;
  content: () => JSX.Element;
}

/** For whoever moves through the rows by keys. */
export interface DiffHandle {
  rows(): Row[];
  /** Puts focus on a row, and the row into sight. */
  focus(row: Row): void;
  /** The row that has focus. */
  focused(): Row | null;
  rowOf(element: Element): Row | null;
}

interface DiffTableProps {
  hunks: DiffHunk[];
  mode: Mode;
  path?: string;
  /** Gets lines that are folded, by their numbers in the new file. Without it they cannot be shown. */
  onShow?: ((from: number, to: number) => Promise<{ lines: string[]; total: number }>) | undefined;
  notes?: Note[];
  picked?: Range | null;
  /** One column of numbers: both sides are the same. */
  single?: boolean | undefined;
  /** The line that somebody was led to. */
  hit?: number | null | undefined;
  /** What can be done with a hunk, at the end of its heading. */
  hunkActions?: ((hunk: number) => JSX.Element) | undefined;
  /** Told of the element and its rows, for pointers and keys. */
  handle?: ((element: HTMLElement, handle: DiffHandle) => void) | undefined;
}

const chunk_rows = 150;
const row_px = 20;
const step_lines = 50;

/** A change of a file, line by line. Signs tell what the colours tell. */
export function DiffTable(props: DiffTableProps) {
  const [shown, setShown] = createSignal<Shown>(new Map());
  createEffect(
    on(
      () => props.hunks,
      () => setShown(new Map()),
      { defer: true },
    ),
  );
  const rows = createMemo(() =>
    rowsOf(props.hunks, {
      mode: props.mode,
      shown: shown(),
      canShow: props.onShow !== undefined,
      allHeads: props.hunkActions !== undefined && props.hunks.length > 1,
    }),
  );
  const chunks = createMemo(() => chunksOf(rows(), chunk_rows));
  const columns = createMemo((): Columns => {
    const sides = sidesOf(props.hunks);
    if (props.single || props.mode === "narrow" || !sides.old || !sides.new) return "single";
    return props.mode;
  });
  const colours = createColours(
    () => [...props.hunks.map((hunk) => hunk.lines), ...[...shown().values()].map((part) => part.lines)],
    () => props.path,
  );
  const [kept, setKept] = createSignal<Row | null>(null);
  const elements = new Map<Row, HTMLTableRowElement>();
  const rowOf = (wanted: Element | null) => [...elements].find(([, element]) => element === wanted)?.[0] ?? null;
  const handle: DiffHandle = {
    rows,
    focus(row) {
      setKept(row);
      const element = elements.get(row);
      element?.focus({ preventScroll: true });
      element?.scrollIntoView?.({ block: "center" });
    },
    focused: () => rowOf(document.activeElement),
    rowOf,
  };
  const show = async (gap: GapRow) => {
    const from = gap.to === null ? gap.from : Math.max(gap.from, gap.to - step_lines + 1);
    const to = gap.to ?? gap.from + step_lines - 1;
    const answer = await props.onShow?.(from, to);
    if (!answer) return;
    const lines = contextOf(answer.lines, from, gap.shift);
    const before = shown().get(gap.gap)?.lines ?? [];
    const all = gap.to === null ? [...before, ...lines] : [...lines, ...before];
    setShown(new Map(shown()).set(gap.gap, { lines: all, isEnd: gap.to === null && to >= answer.total }));
  };
  return (
    <div
      class="diff-table"
      role="group"
      aria-label={props.path === undefined ? "Change" : `Change of ${visible(props.path)}`}
      ref={(element) => props.handle?.(element, handle)}
    >
      <For each={chunks()}>
        {(chunk) => (
          <Near estimate_px={chunk.length * row_px} always={chunks().length === 1 || chunk.includes(kept() as Row)}>
            <Chunk
              rows={chunk}
              columns={columns()}
              notes={props.notes ?? []}
              picked={props.picked ?? null}
              hit={props.hit ?? null}
              colours={colours}
              elements={elements}
              onShow={props.onShow && show}
              hunkActions={props.hunkActions}
            />
          </Near>
        )}
      </For>
    </div>
  );
}

interface ChunkProps {
  rows: Row[];
  columns: Columns;
  notes: Note[];
  picked: Range | null;
  hit: number | null;
  colours: ReturnType<typeof createColours>;
  elements: Map<Row, HTMLTableRowElement>;
  onShow: ((gap: GapRow) => Promise<void>) | undefined;
  hunkActions: ((hunk: number) => JSX.Element) | undefined;
}

function Chunk(props: ChunkProps) {
  const items = createMemo(() => withNotes(props.rows, props.notes));
  const isPicked = (row: Row) => {
    const range = props.picked;
    const at = range && numberAt(row, range.side);
    return range !== null && at !== null && at >= range.from && at <= range.to;
  };
  return (
    <table class={`diff ${props.columns}`}>
      <ColumnWidths columns={props.columns} />
      <tbody>
        <For each={items()}>
          {(item) => {
            if (item.kind === "note") return <NoteRow note={item} columns={props.columns} />;
            if (item.kind === "gap") return <GapView row={item} {...props} />;
            onCleanup(() => props.elements.delete(item));
            return (
              <DiffRow
                ref={(element) => props.elements.set(item, element)}
                row={item}
                columns={props.columns}
                isPicked={isPicked(item)}
                isHit={props.hit !== null && numberAt(item, "new") === props.hit}
                colours={props.colours}
              />
            );
          }}
        </For>
      </tbody>
    </table>
  );
}

/** The first row may be a heading: it does not say how wide they are. */
function ColumnWidths(props: { columns: Columns }) {
  const count = () => (props.columns === "unified" ? ["gutter", "gutter", "code"] : ["gutter", "code"]);
  return (
    <colgroup>
      <For each={props.columns === "split" ? [...count(), ...count()] : count()}>
        {(name) => <col class={`col-${name}`} />}
      </For>
    </colgroup>
  );
}

function withNotes(rows: Row[], notes: Note[]): (Row | Note)[] {
  if (notes.length === 0) return rows;
  return rows.flatMap((row) => [
    row,
    ...notes.filter((note) => row.kind !== "gap" && numberAt(row, note.side) === note.line),
  ]);
}

function NoteRow(props: { note: Note; columns: Columns }) {
  // Beside the side that it is about.
  const isLeft = () => props.columns === "split" && props.note.side === "old";
  return (
    <tr class="note-row">
      <Show when={props.columns === "split"} fallback={<td colspan={widths[props.columns]}>{props.note.content()}</td>}>
        <td colspan={2}>{isLeft() ? props.note.content() : null}</td>
        <td colspan={2}>{isLeft() ? null : props.note.content()}</td>
      </Show>
    </tr>
  );
}

function GapView(props: Omit<ChunkProps, "rows"> & { row: GapRow }) {
  const [isBusy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<string | null>(null);
  const words = () => {
    const { from, to } = props.row;
    if (to === null) return `Line ${from} to end hidden.`;
    if (to < from) return "";
    return from === to ? `Line ${from} hidden.` : `Lines ${from}–${to} hidden.`;
  };
  const show = () => {
    setBusy(true);
    setError(null);
    props.onShow?.(props.row).catch((reason) => {
      setBusy(false);
      setError(sentence(reason));
    });
  };
  return (
    <tr class="hunk">
      <td colspan={widths[props.columns]}>
        <div>
          <Show when={words()}>
            <span>{words()}</span>
            <button type="button" disabled={isBusy()} onClick={show} aria-label={`Show. ${words()}`}>
              Show
            </button>
          </Show>
          <Show when={error()}>{(text) => <span role="alert">{text()}</span>}</Show>
          <Show when={props.row.section}>
            {(section) => (
              <span class="cut section">
                <Visible text={section()} />
              </span>
            )}
          </Show>
          <Show when={props.row.to !== null}>{props.hunkActions?.(props.row.gap)}</Show>
        </div>
      </td>
    </tr>
  );
}
