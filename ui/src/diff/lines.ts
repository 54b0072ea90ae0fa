// Line differences between two texts, and the reading of unified diffs. Pure.

export type LineKind = "same" | "added" | "removed" | "skipped" | "header";

export interface DiffLine {
  kind: LineKind;
  text: string;
}

/** Beyond this many steps the texts count as wholly different; nobody reads such a diff line by line. */
const step_limit = 400;
const context_lines = 3;

export function diffTexts(before: string | null, after: string): DiffLine[] {
  const old = before === null || before === "" ? [] : splitLines(before);
  const now = after === "" ? [] : splitLines(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  ) {
    tail += 1;
  }
  const lines = [
    ...old.slice(0, head).map((text): DiffLine => ({ kind: "same", text })),
    ...diffMiddle(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...old.slice(old.length - tail).map((text): DiffLine => ({ kind: "same", text })),
  ];
  return foldSame(lines);
}

function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Myers' greedy shortest edit script. */
function diffMiddle(old: string[], now: string[]): DiffLine[] {
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= old.length + now.length; edits++) {
    if (edits > step_limit) return replaceAll(old, now);
    trace.push(new Map(reach));
    const next = new Map(reach);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = goesDown(reach, diagonal, edits);
      let x = down ? (reach.get(diagonal + 1) ?? 0) : (reach.get(diagonal - 1) ?? 0) + 1;
      let y = x - diagonal;
      while (x < old.length && y < now.length && old[x] === now[y]) {
        x += 1;
        y += 1;
      }
      next.set(diagonal, x);
      if (x >= old.length && y >= now.length) return walkBack(trace, old, now);
    }
    reach = next;
  }
  return replaceAll(old, now);
}

function goesDown(reach: Map<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && (reach.get(diagonal - 1) ?? -1) < (reach.get(diagonal + 1) ?? -1);
}

function walkBack(trace: Map<number, number>[], old: string[], now: string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = old.length;
  let y = now.length;
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const reach = trace[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const before = goesDown(reach, diagonal, edits) ? diagonal + 1 : diagonal - 1;
    const fromX = edits === 0 ? 0 : (reach.get(before) ?? 0);
    const fromY = edits === 0 ? 0 : fromX - before;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      lines.push({ kind: "same", text: old[x] ?? "" });
    }
    if (edits === 0) break;
    if (x === fromX) lines.push({ kind: "added", text: now[fromY] ?? "" });
    else lines.push({ kind: "removed", text: old[fromX] ?? "" });
    x = fromX;
    y = fromY;
  }
  return lines.reverse();
}

function replaceAll(old: string[], now: string[]): DiffLine[] {
  return [
    ...old.map((text): DiffLine => ({ kind: "removed", text })),
    ...now.map((text): DiffLine => ({ kind: "added", text })),
  ];
}

/** Long runs of unchanged lines become one line that counts them. */
function foldSame(lines: DiffLine[]): DiffLine[] {
  const near = new Set<number>();
  lines.forEach((line, index) => {
    if (line.kind === "same") return;
    for (let at = index - context_lines; at <= index + context_lines; at++) near.add(at);
  });
  const folded: DiffLine[] = [];
  let hidden = 0;
  const flush = () => {
    if (hidden > 0) folded.push({ kind: "skipped", text: `${hidden} unchanged ${hidden === 1 ? "line" : "lines"}` });
    hidden = 0;
  };
  lines.forEach((line, index) => {
    if (near.has(index)) {
      flush();
      folded.push(line);
    } else {
      hidden += 1;
    }
  });
  flush();
  return folded;
}

const hunk_header = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

export function readUnified(diff: string): DiffLine[] {
  // A hunk's header counts its lines, which tells a removed "-- x" from the header "--- x".
  let oldLeft = 0;
  let newLeft = 0;
  return splitLines(diff).map((line): DiffLine => {
    const sign = line[0] ?? " ";
    if (sign === "+" && newLeft > 0) {
      newLeft -= 1;
      return { kind: "added", text: line.slice(1) };
    }
    if (sign === "-" && oldLeft > 0) {
      oldLeft -= 1;
      return { kind: "removed", text: line.slice(1) };
    }
    if (sign === " " && oldLeft > 0 && newLeft > 0) {
      oldLeft -= 1;
      newLeft -= 1;
      return { kind: "same", text: line.slice(1) };
    }
    const hunk = hunk_header.exec(line);
    if (hunk) {
      oldLeft = Number(hunk[1] ?? 1);
      newLeft = Number(hunk[2] ?? 1);
      return { kind: "skipped", text: line };
    }
    if (sign === "\\") return { kind: "skipped", text: line.slice(1).trim() };
    return { kind: "header", text: line };
  });
}

export function countChanges(lines: DiffLine[]): { added: number; removed: number } {
  return {
    added: lines.filter((line) => line.kind === "added").length,
    removed: lines.filter((line) => line.kind === "removed").length,
  };
}
