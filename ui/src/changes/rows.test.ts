import { describe, expect, it } from "vitest";
import type { DiffHunk, DiffLine } from "../api/types";
import { changeStarts, chunksOf, contextOf, numberAt, type Row, rowsOf } from "./rows";

const same = (at: number, to = at): DiffLine => ({ kind: "context", old: at, new: to, text: `line ${at}` });
const gone = (at: number): DiffLine => ({ kind: "delete", old: at, text: `old ${at}` });
const come = (at: number): DiffLine => ({ kind: "add", new: at, text: `new ${at}` });

const hunk = (lines: DiffLine[], section?: string): DiffHunk => {
  const numbers = (side: "old" | "new") => lines.map((line) => line[side]).filter((at) => at != null) as number[];
  return {
    old_start: numbers("old")[0] ?? 0,
    old_lines: numbers("old").length,
    new_start: numbers("new")[0] ?? 0,
    new_lines: numbers("new").length,
    ...(section === undefined ? {} : { section }),
    lines,
  };
};

const words = (rows: Row[]) =>
  rows.map((row) => {
    if (row.kind === "gap") return `${row.from}–${row.to ?? "…"}${row.section ? ` ${row.section}` : ""}`;
    if (row.kind === "line") return row.line.text;
    return `${row.old?.text ?? "·"} | ${row.new?.text ?? "·"}`;
  });

const middle = hunk([same(21), gone(22), gone(23), come(22), same(24, 23), same(25, 24), same(26, 25)], "routes");

describe("the rows of a diff", () => {
  it("are its lines, beneath what the hunk is about", () => {
    expect(words(rowsOf([middle], { mode: "unified" }))).toEqual([
      "21–20 routes".replace("21–20", "1–0"),
      "line 21",
      "old 22",
      "old 23",
      "new 22",
      "line 24",
      "line 25",
      "line 26",
    ]);
  });

  it("stand side by side, each deleted line beside what came for it", () => {
    const rows = rowsOf([hunk([same(1), gone(2), gone(3), come(2), same(4, 3), come(4), gone(5)])], { mode: "split" });
    expect(words(rows)).toEqual([
      "line 1 | line 1",
      "old 2 | new 2",
      "old 3 | ·",
      "line 4 | line 4",
      "· | new 4",
      "old 5 | ·",
    ]);
  });

  it("of a new file have one side only", () => {
    const rows = rowsOf([hunk([come(1), come(2)])], { mode: "split", canShow: true });
    expect(words(rows)).toEqual(["new 1", "new 2"]);
  });

  it("tell what is folded between the hunks, and at the end unless the file ends there", () => {
    const second = hunk([same(40, 39), come(40), same(41)]);
    expect(
      words(rowsOf([middle, second], { mode: "unified", canShow: true })).filter((text) => text.includes("–")),
    ).toEqual(["1–20 routes", "26–38"]);
    expect(words(rowsOf([middle], { mode: "unified", canShow: true })).at(-1)).toBe("26–…");
  });

  it("give way to context that was asked for", () => {
    const shown = new Map([
      [0, { lines: contextOf(["a", "b"], 19, 0), isEnd: false }],
      [1, { lines: contextOf(["y", "z"], 26, 1), isEnd: true }],
    ]);
    const rows = rowsOf([middle], { mode: "unified", canShow: true, shown });
    expect(words(rows).slice(0, 4)).toEqual(["1–18 routes", "a", "b", "line 21"]);
    expect(words(rows).slice(-2)).toEqual(["y", "z"]);
    expect(rows.at(-1)).toMatchObject({ line: { new: 27, old: 28 } });
  });
});

it("a line of context is pointed at by its new number, a deleted one by its old", () => {
  const [, context, deleted, , added] = rowsOf([middle], { mode: "unified" });
  const numbers = [context, deleted, added].map((row) => row && [numberAt(row, "old"), numberAt(row, "new")]);
  expect(numbers).toEqual([
    [null, 21],
    [22, null],
    [null, 22],
  ]);
});

it("a change begins after context", () => {
  const rows = rowsOf([middle, hunk([same(40, 39), come(40), same(41)])], { mode: "unified" });
  expect(words(changeStarts(rows))).toEqual(["old 22", "new 40"]);
});

it("chunks lose nothing", () => {
  expect(chunksOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
});
