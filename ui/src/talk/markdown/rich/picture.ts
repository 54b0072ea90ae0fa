// A diagram as plain data: boxes, the lines between them, the frames around them, and words.

export type Shape =
  | "box"
  | "round"
  | "pill"
  | "circle"
  | "double"
  | "diamond"
  | "hexagon"
  | "slant"
  | "cylinder"
  | "subroutine"
  | "actor"
  | "note"
  | "plain"
  | "start"
  | "end"
  | "bar"
  | "work"
  | "table";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  lines: string[];
  shape: Shape;
  /** Of a table: the first so many lines are its head, and a rule is drawn above each of these lines. */
  head?: number;
  rules?: number[];
}

export type Head = "none" | "arrow" | "open" | "triangle" | "diamond" | "full" | "circle" | "cross";
export type Point = [x: number, y: number];

export interface Line {
  points: Point[];
  label: string;
  at: Point;
  dashed: boolean;
  ends: [Head, Head];
  /** What stands at its two ends: how many of each. */
  counts?: [string, string];
}

/** Something that is drawn around others. */
export interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
  label: string;
}

/** What is filled with one of the colours of a series: a bar, or a part of the circle that fits into its place. */
export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
  tone: number;
  /** In turns, clockwise from above. */
  sector?: [from: number, to: number];
}

export interface Words {
  text: string;
  at: Point;
  align: "start" | "middle" | "end";
  kind: "text" | "small" | "strong" | "title";
}

export interface Picture {
  x: number;
  y: number;
  width: number;
  height: number;
  boxes: Box[];
  lines: Line[];
  frames?: Frame[];
  areas?: Area[];
  words?: Words[];
  /** What kind of diagram it is, for those who cannot see it. */
  kind?: string;
  title?: string;
}

export const most_boxes = 200;
export const most_lines = 400;
export const most_nesting = 8;

/** What it could not be read as; said to people. */
export class NotDrawn extends Error {}

export const tooMany = () => new NotDrawn("it has too many parts");

export const letter_px = 7.2;
export const line_px = 18;
const wide_letter_px = 13;
const margin_px = 8;
const longest_line = 28;
/** Longer words are cut: nobody reads them in a box. */
const longest_word = 80;

export function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) width += letter >= "\u1100" ? wide_letter_px : letter_px;
  return width;
}

const entities: Record<string, string> = { quot: '"', amp: "&", lt: "<", gt: ">", nbsp: " ", apos: "'", semi: ";" };

/** Words as Mermaid quotes them: in quotes, with its own escapes. */
export function unquoted(text: string): string {
  return text
    .trim()
    .replace(/^"(.*)"$/s, "$1")
    .replace(/^`(.*)`$/s, "$1")
    .replace(/\*\*(\S.*?)\*\*/g, "$1")
    .replace(/\bfa[bsr]?:fa-[\w-]+\s*/g, "")
    .replace(/[&#](?:(\d{1,6})|#(\d{1,6})|([a-z]{2,4}));/g, (whole, code, other, name) => {
      const number = Number(code ?? other);
      if (name !== undefined) return entities[name] ?? whole;
      // Only letters that everybody can see: an escape must hide nothing.
      const isSeen = (number >= 0x20 && number < 0x7f) || (number > 0xad && number < 0x250);
      return isSeen ? String.fromCharCode(number) : whole;
    })
    .trim();
}

export function wrapped(text: string, longest = longest_line): string[] {
  const words = unquoted(text)
    .replace(/<br\s*\/?>|\\n/gi, "\n")
    .split(/(\s+)/);
  const lines: string[] = [""];
  for (const word of words) {
    const last = lines.at(-1) ?? "";
    if (word.includes("\n")) lines.push("");
    else if (last.length + word.length > longest && last.trim()) lines.push(word.trimStart());
    else lines[lines.length - 1] += word;
  }
  const shown = lines.map((line) => line.trim()).filter((line, index) => line !== "" || index === 0);
  return shown.map((line) => (line.length > longest_word ? `${line.slice(0, longest_word)}…` : line));
}

/** The words of a line, over as many lines as they need. */
export const labelled = (text: string) => wrapped(text, 36).join("\n");

export function sizeOf(label: string): { width: number; height: number } {
  const lines = label.split("\n");
  return { width: Math.max(...lines.map(widthOf)) + 10, height: lines.length * line_px };
}

const growth: Partial<Record<Shape, [number, number]>> = {
  diamond: [1.4, 1.4],
  circle: [1.15, 1.4],
  double: [1.2, 1.6],
  hexagon: [1.15, 1],
  slant: [1.2, 1],
  cylinder: [1, 1.4],
  subroutine: [1.1, 1],
};

export function sized(lines: string[], shape: Shape): Box {
  const [wide, high] = growth[shape] ?? [1, 1];
  const width = (Math.max(...lines.map(widthOf)) + 28) * wide;
  const height = (lines.length * line_px + 18) * high;
  return { x: 0, y: 0, width: Math.max(48, width), height, lines, shape };
}

/** The part of the plane that all of it takes. */
export function framed(parts: Omit<Picture, "x" | "y" | "width" | "height">): Picture {
  const { boxes, lines, frames = [], words = [], areas = [] } = parts;
  const [xs, ys]: [number[], number[]] = [[], []];
  const cover = (x: number, y: number, width = 0, height = 0) => {
    xs.push(x, x + width);
    ys.push(y, y + height);
  };
  for (const { x, y, width, height } of [...boxes, ...frames, ...areas]) cover(x, y, width, height);
  for (const { points, label, at } of lines) {
    for (const [x, y] of points) cover(x, y);
    const { width, height } = sizeOf(label);
    if (label !== "") cover(at[0] - width / 2, at[1] - height / 2, width, height);
  }
  for (const { text, at, align } of words) {
    const width = widthOf(text);
    const from = at[0] - (align === "start" ? 0 : align === "end" ? width : width / 2);
    cover(from, at[1] - line_px / 2, width, line_px);
  }
  const [left, top] = [Math.min(...xs) - margin_px, Math.min(...ys) - margin_px];
  const [width, height] = [Math.max(...xs) + margin_px - left, Math.max(...ys) + margin_px - top];
  return { ...parts, x: left, y: top, width, height };
}

const title_px = 28;

/** Its title stands above it. */
export function titled(picture: Picture): Picture {
  const title = unquoted(picture.title ?? "").slice(0, longest_word);
  if (title === "") return picture;
  const at: Point = [picture.x + picture.width / 2, picture.y - title_px / 2 + margin_px];
  const words: Words[] = [...(picture.words ?? []), { text: title, at, align: "middle", kind: "title" }];
  return { ...framed({ ...picture, words }), title };
}
