// The rows of a diff: a line or a pair of lines each, and what is folded between the hunks.

import type { DiffHunk, DiffLine } from "../api/types";

export type Side = "old" | "new";
/** `narrow` has one column of numbers, for phones. */
export type Mode = "unified" | "split" | "narrow";

export interface LineRow {
  kind: "line";
  line: DiffLine;
}
/** Side by side; an empty side has no line there. */
export interface PairRow {
  kind: "pair";
  old: DiffLine | null;
  new: DiffLine | null;
}
/** Lines that are not shown, by their numbers in the new file. Where the file ends is not always known. */
export interface GapRow {
  kind: "gap";
  gap: number;
  from: number;
  to: number | null;
  /** What must be added to a new number to get the old one. */
  shift: number;
  section: string | null;
}
export type Row = LineRow | PairRow | GapRow;

/** Context that was asked for, by gap: it adjoins the hunk behind the gap, in the last gap the one before it. */
export type Shown = ReadonlyMap<number, { lines: DiffLine[]; isEnd: boolean }>;

/** Hunks come with as many lines of context, unless the file ends. */
const context_lines = 3;

interface Options {
  mode: Mode;
  shown?: Shown;
  /** Whether folded lines can be asked for; else only the hunk's section is told. */
  canShow?: boolean;
  /** Whether every hunk has a heading, for what can be done with it. */
  allHeads?: boolean;
}

/** Which sides there are at all: a new file has no old one. */
export function sidesOf(hunks: DiffHunk[]): { old: boolean; new: boolean } {
  const has = (kind: DiffLine["kind"]) => hunks.some((hunk) => hunk.lines.some((line) => line.kind === kind));
  const context = has("context");
  return { old: context || has("delete"), new: context || has("add") };
}

export function rowsOf(hunks: DiffHunk[], options: Options): Row[] {
  const sides = sidesOf(hunks);
  const isSplit = options.mode === "split" && sides.old && sides.new;
  const rows: Row[] = [];
  const put = (lines: DiffLine[]) => {
    for (const row of isSplit ? pairsOf(lines) : lines.map((line): LineRow => ({ kind: "line", line }))) rows.push(row);
  };
  let next = 1;
  hunks.forEach((hunk, gap) => {
    const shown = options.shown?.get(gap)?.lines ?? [];
    const to = hunk.new_start - 1 - shown.length;
    const hidden = options.canShow && sides.old && sides.new ? to - next + 1 : 0;
    const section = hunk.section || null;
    if (hidden > 0 || options.allHeads || (shown.length === 0 && (section !== null || gap > 0))) {
      rows.push({ kind: "gap", gap, from: next, to: hidden > 0 ? to : next - 1, shift: shiftBefore(hunk), section });
    }
    put(shown);
    put(hunk.lines);
    next = hunk.new_start + hunk.new_lines;
  });
  const last = hunks.at(-1);
  if (options.canShow && last && sides.old && sides.new) {
    const shown = options.shown?.get(hunks.length);
    put(shown?.lines ?? []);
    const from = next + (shown?.lines.length ?? 0);
    if (!(shown?.isEnd ?? endsWithFile(last))) {
      rows.push({ kind: "gap", gap: hunks.length, from, to: null, shift: shiftAfter(last), section: null });
    }
  }
  return rows;
}

const shiftBefore = (hunk: DiffHunk) => hunk.old_start - hunk.new_start;
const shiftAfter = (hunk: DiffHunk) => hunk.old_start + hunk.old_lines - (hunk.new_start + hunk.new_lines);

/** A hunk with less context at its foot than is usual stands at the end of its file. */
function endsWithFile(hunk: DiffHunk): boolean {
  const foot = hunk.lines.slice(-context_lines);
  return foot.length < context_lines || foot.some((line) => line.kind !== "context" || line.no_newline);
}

/** Deleted lines beside the added ones that stand in their place. */
function pairsOf(lines: DiffLine[]): PairRow[] {
  const rows: PairRow[] = [];
  let gone: DiffLine[] = [];
  let come: DiffLine[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(gone.length, come.length); at++) {
      rows.push({ kind: "pair", old: gone[at] ?? null, new: come[at] ?? null });
    }
    gone = [];
    come = [];
  };
  for (const line of lines) {
    if (line.kind === "delete") {
      if (come.length > 0) flush();
      gone.push(line);
    } else if (line.kind === "add") {
      come.push(line);
    } else {
      flush();
      rows.push({ kind: "pair", old: line, new: line });
    }
  }
  flush();
  return rows;
}

/** Lines as they come from the file, as context beside the hunks. */
export function contextOf(texts: string[], from: number, shift: number): DiffLine[] {
  return texts.map((text, at) => ({ kind: "context", new: from + at, old: from + at + shift, text }));
}

/** The lines of a row by side. A line of context counts for the new side, unless there are two sides to point at. */
export function lineAt(row: Row, side: Side): DiffLine | null {
  if (row.kind === "gap") return null;
  if (row.kind === "pair") return row[side];
  if (row.line.kind === "delete") return side === "old" ? row.line : null;
  return side === "new" ? row.line : null;
}

export function numberAt(row: Row, side: Side): number | null {
  const line = lineAt(row, side);
  return (side === "old" ? line?.old : line?.new) ?? null;
}

/** Rows that begin a change: the first added or deleted one after context or a gap. */
export function changeStarts(rows: Row[]): Row[] {
  const isChanged = (row: Row | undefined) =>
    row?.kind === "line"
      ? row.line.kind !== "context"
      : row?.kind === "pair" && (row.old?.kind === "delete" || row.new?.kind === "add");
  return rows.filter((row, at) => isChanged(row) && !isChanged(rows[at - 1]));
}

export function chunksOf<T>(items: T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}
