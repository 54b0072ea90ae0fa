// Elements of a picture.

import type { Point } from "./picture";

const namespace = "http://www.w3.org/2000/svg";

export function make(name: string, attributes: Record<string, string | number>, ...children: string[]): SVGElement {
  const element = document.createElementNS(namespace, name);
  for (const [key, value] of Object.entries(attributes))
    element.setAttribute(key, String(typeof value === "number" ? round(value) : value));
  element.append(...children);
  return element;
}

export const round = (value: number) => Math.round(value * 10) / 10;

export const path = (points: Point[]) => points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");
