// A diagram on the page, made of nodes of our own: nothing of its source is ever read as markup.

import { createBounded } from "./bounded";
import { type Box, type Line, line_px, type Picture } from "./picture";

const namespace = "http://www.w3.org/2000/svg";

const ask = createBounded<string, Picture>(
  () => new Worker(new URL("./diagramWorker.ts", import.meta.url), { type: "module" }),
);

/** The diagram, or why there is none. */
export async function drawPicture(source: string): Promise<Element | string> {
  const outcome = await ask(source, source);
  return "error" in outcome ? outcome.error : svgOf(outcome.result);
}

function make(name: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(namespace, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

const round = (value: number) => Math.round(value * 10) / 10;

export function svgOf({ width, height, boxes, lines }: Picture): Element {
  const [wide, high] = [Math.ceil(width), Math.ceil(height)];
  return make(
    "svg",
    { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, class: "diagram-picture", "aria-hidden": "true" },
    ...lines.flatMap(lineNodes),
    ...boxes.flatMap(boxNodes),
    ...lines.flatMap(labelNodes),
  );
}

function lineNodes({ points, dashed, arrow }: Line): Node[] {
  const path = points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");
  const line = make("polyline", { points: path, class: dashed ? "diagram-line dashed" : "diagram-line" });
  const [before, end] = points.slice(-2);
  return arrow && before && end ? [line, arrowHead(before, end)] : [line];
}

function arrowHead([fromX, fromY]: [number, number], [x, y]: [number, number]): Node {
  const angle = Math.atan2(y - fromY, x - fromX);
  const corner = (turn: number) => `${round(x - 9 * Math.cos(angle + turn))},${round(y - 9 * Math.sin(angle + turn))}`;
  return make("polygon", { points: `${round(x)},${round(y)} ${corner(0.4)} ${corner(-0.4)}`, class: "diagram-head" });
}

function boxNodes({ x, y, width, height, lines, shape }: Box): Node[] {
  const [middleX, middleY] = [x + width / 2, y + height / 2];
  const outline =
    shape === "diamond"
      ? make("polygon", {
          points: `${round(middleX)},${round(y)} ${round(x + width)},${round(middleY)} ${round(middleX)},${round(y + height)} ${round(x)},${round(middleY)}`,
          class: "diagram-box",
        })
      : make("rect", {
          x: round(x),
          y: round(y),
          width: round(width),
          height: round(height),
          rx: shape === "round" ? round(height / 2) : 6,
          class: `diagram-box ${shape}`,
        });
  const top = middleY - ((lines.length - 1) * line_px) / 2;
  return [outline, ...lines.map((line, index) => words(line, middleX, top + index * line_px, "diagram-text"))];
}

function words(text: string, x: number, y: number, name: string): Node {
  return make("text", { x: round(x), y: round(y), class: name }, text);
}

function labelNodes({ label, at: [x, y] }: Line): Node[] {
  return label === "" ? [] : [words(label, x, y, "diagram-text label")];
}
