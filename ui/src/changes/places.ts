// Where a comment stands in a diff, and what it quotes.

import type { Comment, DiffHunk, DiffLine, FileChange, Since } from "../api/types";
import type { Side } from "./rows";

/** As much of a quote as is kept. */
const quote_lines = 20;
const quote_units = 2_000;

function linesOf(hunks: DiffHunk[], side: Side): DiffLine[] {
  const other = side === "old" ? "add" : "delete";
  return hunks.flatMap((hunk) => hunk.lines.filter((line) => line.kind !== other && line[side] != null));
}

/** The text of some lines of one side; its end, if it is long. */
export function quoteOf(lines: readonly DiffLine[], side: Side, from: number, to: number): string {
  const texts = lines
    .filter((line) => line.kind !== (side === "old" ? "add" : "delete"))
    .filter((line) => (line[side] ?? 0) >= from && (line[side] ?? 0) <= to)
    .map((line) => line.text);
  return texts.slice(-quote_lines).join("\n").slice(-quote_units);
}

/** The line beneath which it stands. Null where that line is not shown, or is another one by now: then it stands above the file. */
export function placeOf(
  comment: Comment,
  file: FileChange,
  since: Since | undefined,
): { side: Side; line: number } | null {
  const { side, to_line, from_line, quote } = comment;
  const number = to_line ?? from_line;
  if (side === "file" || number == null) return null;
  // What was there before is another text since another time.
  if (side === "old" && comment.since != null && since !== undefined && comment.since !== since) return null;
  const line = linesOf(file.hunks, side).find((candidate) => candidate[side] === number);
  if (!line) return null;
  return quote === "" || quote.endsWith(line.text) ? { side, line: number } : null;
}

/** Where a comment that was sent is by now: its line may have moved since. The nearest one that reads the same is taken for it. */
export function movedTo(comment: Comment, file: FileChange): { side: Side; line: number } | null {
  const { side, to_line, from_line, quote } = comment;
  const number = to_line ?? from_line;
  const quoted = quote.split("\n").at(-1) ?? "";
  if (side !== "new" || number == null || quoted.trim() === "") return null;
  const same = linesOf(file.hunks, side).flatMap((line) =>
    line.text === quoted && line.new != null ? [line.new] : [],
  );
  const nearest = same.sort((a, b) => Math.abs(a - number) - Math.abs(b - number))[0];
  return nearest === undefined ? null : { side, line: nearest };
}

/** Whether the diff itself has the line that it is about. */
export function isInHunks(file: FileChange, { side, to_line, from_line }: Comment): boolean {
  const number = to_line ?? from_line;
  return side !== "file" && linesOf(file.hunks, side).some((line) => line[side] === number);
}

/** What it is about, in words. */
export function placeWords(comment: Pick<Comment, "side" | "from_line" | "to_line">): string {
  const { side, from_line: from, to_line } = comment;
  if (side === "file" || from == null) return "The whole file";
  const to = to_line ?? from;
  const lines = from === to ? `Line ${from}` : `Lines ${from}–${to}`;
  return side === "old" ? `${lines} as before` : lines;
}
