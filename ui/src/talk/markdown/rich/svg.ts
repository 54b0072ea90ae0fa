// A diagram on the page, made of nodes of our own: nothing of its source is ever read as markup.

import { createBounded } from "./bounded";
import { make, path, round } from "./nodes";
import { outlineNodes } from "./outline";
import {
  type Area,
  type Box,
  type Frame,
  type Head,
  type Line,
  line_px,
  type Picture,
  type Point,
  sizeOf,
  type Words,
} from "./picture";

const tones = 8;
const round_px = 10;

const ask = createBounded<string, Picture>(
  () => new Worker(new URL("./diagramWorker.ts", import.meta.url), { type: "module" }),
);

/** The diagram, or why there is none. */
export async function drawPicture(source: string): Promise<Picture | string> {
  const outcome = await ask(source, source);
  return "error" in outcome ? outcome.error : outcome.result;
}

export function svgOf({ x, y, width, height, boxes, lines, frames = [], areas = [], words = [] }: Picture): Element {
  const [wide, high] = [Math.ceil(width), Math.ceil(height)];
  const picture = make("svg", {
    viewBox: `${Math.floor(x)} ${Math.floor(y)} ${wide + 1} ${high + 1}`,
    width: wide + 1,
    height: high + 1,
    class: "diagram-picture",
    "aria-hidden": "true",
  });
  picture.append(
    ...frames.flatMap(frameNodes),
    ...lines.flatMap(lineNodes),
    ...areas.map(areaNode),
    ...boxes.flatMap(boxNodes),
    ...lines.flatMap(labelNodes),
    ...words.map(wordNode),
  );
  return picture;
}

function frameNodes({ x, y, width, height, label }: Frame): Node[] {
  const outline = make("rect", { x, y, width, height, rx: 6, class: "diagram-frame" });
  const lines = label === "" ? [] : label.split("\n");
  return [outline, ...lines.map((line, at) => text(line, x + 8, y + 14 + at * line_px, "diagram-text small start"))];
}

function areaNode({ x, y, width, height, tone, sector }: Area): Node {
  const name = `diagram-area tone-${tone % tones}`;
  if (!sector) return make("rect", { x, y, width, height, rx: 4, class: name });
  const [radius, middleX, middleY] = [width / 2, x + width / 2, y + height / 2];
  const [from, to] = sector;
  if (to - from > 0.9999) return make("circle", { cx: middleX, cy: middleY, r: radius, class: name });
  const at = (turn: number) =>
    path([[middleX + radius * Math.sin(turn * 2 * Math.PI), middleY - radius * Math.cos(turn * 2 * Math.PI)]]);
  const arc = `A ${round(radius)} ${round(radius)} 0 ${to - from > 0.5 ? 1 : 0} 1`;
  return make("path", { d: `M ${path([[middleX, middleY]])} L ${at(from)} ${arc} ${at(to)} Z`, class: name });
}

function lineNodes({ points, dashed, ends: [begin, end], counts }: Line): Node[] {
  const line = make("path", { d: rounded(points), class: dashed ? "diagram-line dashed" : "diagram-line" });
  const [first, second] = points;
  const [before, last] = points.slice(-2);
  if (!first || !second || !before || !last) return [];
  return [
    line,
    ...headNodes(begin, second, first),
    ...headNodes(end, before, last),
    ...(counts ? [countNode(counts[0], second, first), countNode(counts[1], before, last)] : []),
  ];
}

/** With corners that are easy to follow. */
function rounded(points: Point[]): string {
  const parts = points.map((point, at) => {
    const [before, next] = [points[at - 1], points[at + 1]];
    if (!before) return `M ${path([point])}`;
    if (!next) return `L ${path([point])}`;
    return `L ${path([toward(point, before)])} Q ${path([point])} ${path([toward(point, next)])}`;
  });
  return parts.join(" ");
}

function toward([x, y]: Point, [toX, toY]: Point): Point {
  const length = Math.hypot(toX - x, toY - y);
  const share = length === 0 ? 0 : Math.min(round_px, length / 2) / length;
  return [x + (toX - x) * share, y + (toY - y) * share];
}

function headNodes(head: Head, [fromX, fromY]: Point, [x, y]: Point): Node[] {
  if (head === "none") return [];
  const angle = Math.atan2(y - fromY, x - fromX);
  const at = (back: number, side: number): Point => [
    x - back * Math.cos(angle) - side * Math.sin(angle),
    y - back * Math.sin(angle) + side * Math.cos(angle),
  ];
  switch (head) {
    case "circle": {
      const [cx, cy] = at(5, 0);
      return [make("circle", { cx, cy, r: 4, class: "diagram-head" })];
    }
    case "cross":
      return [
        make("path", {
          d: `M ${path([at(10, -5)])} L ${path([at(2, 5)])} M ${path([at(10, 5)])} L ${path([at(2, -5)])}`,
          class: "diagram-line",
        }),
      ];
    case "open":
      return [make("polyline", { points: path([at(9, -4.5), [x, y], at(9, 4.5)]), class: "diagram-line" })];
    case "triangle":
      return [make("polygon", { points: path([[x, y], at(13, -7), at(13, 7)]), class: "diagram-head hollow" })];
    case "diamond":
    case "full":
      return [
        make("polygon", {
          points: path([[x, y], at(8, -5), at(16, 0), at(8, 5)]),
          class: head === "full" ? "diagram-head" : "diagram-head hollow",
        }),
      ];
    default:
      return [make("polygon", { points: path([[x, y], at(9, -4), at(9, 4)]), class: "diagram-head" })];
  }
}

/** Beside its end of the line. */
function countNode(count: string, [fromX, fromY]: Point, [x, y]: Point): Node {
  const angle = Math.atan2(fromY - y, fromX - x);
  const aside = sizeOf(count).width / 2 + 4;
  const isUpright = Math.abs(Math.sin(angle)) > 0.7;
  const [awayX, awayY] = [x + Math.cos(angle) * 20, y + Math.sin(angle) * 20];
  return text(count, isUpright ? awayX + aside : awayX, isUpright ? awayY : awayY - 10, "diagram-text label");
}

function boxNodes(box: Box): Node[] {
  const { x, y, width, height, lines, shape } = box;
  const left = x + 12;
  const top = y + height / 2 - ((lines.length - 1) * line_px) / 2 + (shape === "cylinder" ? 5 : 0);
  const nodes = lines.map((line, at) => {
    const isHead = shape !== "table" || at < (box.head ?? 0);
    const name = shape === "table" ? (isHead ? "diagram-text strong" : "diagram-text start") : "diagram-text";
    return text(line, isHead ? x + width / 2 : left, top + at * line_px, name);
  });
  const rules = (box.rules ?? []).map((at) => {
    const level = top + (at - 0.5) * line_px;
    return make("path", { d: `M ${path([[x, level]])} L ${path([[x + width, level]])}`, class: "diagram-rule" });
  });
  return [...outlineNodes(box), ...rules, ...nodes];
}

function labelNodes({ label, at: [x, y] }: Line): Node[] {
  if (label === "") return [];
  const lines = label.split("\n");
  const top = y - ((lines.length - 1) * line_px) / 2;
  return lines.map((line, at) => text(line, x, top + at * line_px, "diagram-text label"));
}

function wordNode({ text: words, at: [x, y], align, kind }: Words): Node {
  return text(words, x, y, `diagram-text ${align} ${kind}`);
}

function text(words: string, x: number, y: number, name: string): Node {
  return make("text", { x, y, class: name }, words);
}
