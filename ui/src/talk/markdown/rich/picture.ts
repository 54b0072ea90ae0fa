// A diagram as plain data: boxes and the lines between them.

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  lines: string[];
  shape: "box" | "round" | "diamond" | "actor" | "note";
}

export interface Line {
  points: [number, number][];
  label: string;
  at: [number, number];
  dashed: boolean;
  arrow: boolean;
}

export interface Picture {
  width: number;
  height: number;
  boxes: Box[];
  lines: Line[];
}

export const most_boxes = 200;
export const most_lines = 400;

/** What it could not be read as; said to people. */
export class NotDrawn extends Error {}

export const letter_px = 7.2;
export const line_px = 18;
const longest_line = 28;

export function wrapped(text: string): string[] {
  const words = text
    .replace(/^"(.*)"$/s, "$1")
    .replace(/<br\s*\/?>/gi, "\n")
    .split(/(\s+)/);
  const lines: string[] = [""];
  for (const word of words) {
    if (word.includes("\n")) lines.push("");
    else if ((lines.at(-1) ?? "").length + word.length > longest_line && lines.at(-1)?.trim())
      lines.push(word.trimStart());
    else lines[lines.length - 1] += word;
  }
  return lines.map((line) => line.trim()).filter((line, index) => line !== "" || index === 0);
}

export function sized(lines: string[], shape: Box["shape"]): Box {
  const width = Math.max(...lines.map((line) => line.length)) * letter_px + 28;
  const height = lines.length * line_px + 18;
  const grow = shape === "diamond" ? 1.4 : 1;
  return { x: 0, y: 0, width: Math.max(48, width * grow), height: height * grow, lines, shape };
}

/** Room for what goes beyond the boxes. */
export function framed({ boxes, lines }: Picture): Picture {
  const xs = [...boxes.flatMap(({ x, width }) => [x, x + width])];
  const ys = [...boxes.flatMap(({ y, height }) => [y, y + height])];
  for (const { points, label, at } of lines) {
    for (const [x, y] of points) {
      xs.push(x);
      ys.push(y);
    }
    if (label) {
      xs.push(at[0] - (label.length * letter_px) / 2, at[0] + (label.length * letter_px) / 2);
      ys.push(at[1] - line_px / 2, at[1] + line_px / 2);
    }
  }
  const [left, top] = [Math.min(...xs) - 8, Math.min(...ys) - 8];
  for (const box of boxes) {
    box.x -= left;
    box.y -= top;
  }
  const moved = lines.map((line) => ({
    ...line,
    points: line.points.map(([x, y]) => [x - left, y - top] as [number, number]),
    at: [line.at[0] - left, line.at[1] - top] as [number, number],
  }));
  return { width: Math.max(...xs) - left + 8, height: Math.max(...ys) - top + 8, boxes, lines: moved };
}
