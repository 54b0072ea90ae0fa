import { type Accessor, createRenderEffect, Show } from "solid-js";
import type { DiffLine } from "../api/types";
import type { Colours } from "./colours";
import { indentOf, paint } from "./paint";
import type { LineRow, PairRow, Side } from "./rows";

/** Columns: both numbers and one text, one of each, or two of each. */
export type Columns = "unified" | "single" | "split";

export const widths: Record<Columns, number> = { unified: 3, single: 2, split: 4 };

interface DiffRowProps {
  ref(element: HTMLTableRowElement): void;
  row: LineRow | PairRow;
  columns: Columns;
  isPicked: boolean;
  /** Somebody was led to this line. */
  isHit: boolean;
  /** The colours of a line, once they are known. */
  colours: Accessor<Colours | undefined>;
}

const classes = { context: "", add: "add", delete: "delete" } as const;
const sideOf = (line: DiffLine): Side => (line.kind === "delete" ? "old" : "new");

/** A line, or two beside each other. Focus comes to it by keys. */
export function DiffRow(props: DiffRowProps) {
  return (
    <tr ref={(element) => props.ref(element)} tabindex="-1" classList={{ picked: props.isPicked, hit: props.isHit }}>
      <Show
        when={props.row.kind === "pair" && props.row}
        fallback={<LineCells row={props.row as LineRow} columns={props.columns} colours={props.colours} />}
      >
        {(pair) => (
          <>
            <PairCells line={pair().old} side="old" colours={props.colours} />
            <PairCells line={pair().new} side="new" colours={props.colours} />
          </>
        )}
      </Show>
    </tr>
  );
}

function LineCells(props: Pick<DiffRowProps, "columns" | "colours"> & { row: LineRow }) {
  const line = props.row.line;
  const side = sideOf(line);
  const kind = classes[line.kind];
  return (
    <>
      <Show
        when={props.columns === "unified"}
        fallback={
          <td class={`gutter ${kind}`} data-side={side}>
            {(side === "old" ? line.old : line.new) ?? ""}
          </td>
        }
      >
        <td class={`gutter ${kind}`} data-side={side}>
          {line.kind === "add" ? "" : (line.old ?? "")}
        </td>
        <td class={`gutter ${kind}`} data-side={side}>
          {line.kind === "delete" ? "" : (line.new ?? "")}
        </td>
      </Show>
      <Code line={line} side={side} colours={props.colours} />
    </>
  );
}

function PairCells(props: { line: DiffLine | null; side: Side; colours: DiffRowProps["colours"] }) {
  const { line, side } = props;
  const middle = side === "new" ? " middle" : "";
  if (!line) {
    return (
      <>
        <td class={`gutter none${middle}`} />
        <td class="code none" />
      </>
    );
  }
  return (
    <>
      <td class={`gutter ${classes[line.kind]}${middle}`} data-side={side}>
        {line[side] ?? ""}
      </td>
      <Code line={line} side={side} colours={props.colours} />
    </>
  );
}

function Code(props: { line: DiffLine; side: Side; colours: DiffRowProps["colours"] }) {
  const { line, side } = props;
  const indent = indentOf(line.text, line.marks);
  const tag = line.kind === "delete" ? "del" : "ins";
  const fill = (cell: HTMLElement) =>
    createRenderEffect(() => paint(cell, line.text, tag, line.marks, props.colours()?.(line, side), indent.units));
  return (
    <td
      class={`code ${classes[line.kind]}`}
      data-side={side}
      ref={(cell) => cell.style.setProperty("--indent", String(indent.columns))}
    >
      <span class="indent">{line.text.slice(0, indent.units)}</span>
      <span class="text" ref={fill} />
      <Show when={line.no_newline}>
        <span class="no-end" role="img" aria-label="no newline" title="No newline at end of file" />
      </Show>
    </td>
  );
}
