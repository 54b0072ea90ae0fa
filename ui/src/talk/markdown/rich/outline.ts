// The outlines of boxes.

import { make, path } from "./nodes";
import type { Box, Point } from "./picture";

export function outlineNodes(box: Box): Node[] {
  const { x, y, width, height, shape } = box;
  const [middleX, middleY, right, bottom] = [x + width / 2, y + height / 2, x + width, y + height];
  const name = `diagram-box ${shape}`;
  const around = (points: Point[]) => [make("polygon", { points: path(points), class: name })];
  const ring = (less: number, ringName = name) =>
    make("ellipse", { cx: middleX, cy: middleY, rx: width / 2 - less, ry: height / 2 - less, class: ringName });
  const rect = (rx: number) => make("rect", { x, y, width, height, rx, class: name });
  switch (shape) {
    case "plain":
      return [];
    case "diamond":
      return around([
        [middleX, y],
        [right, middleY],
        [middleX, bottom],
        [x, middleY],
      ]);
    case "hexagon":
      return around([
        [x, middleY],
        [x + 10, y],
        [right - 10, y],
        [right, middleY],
        [right - 10, bottom],
        [x + 10, bottom],
      ]);
    case "slant":
      return around([
        [x + 12, y],
        [right, y],
        [right - 12, bottom],
        [x, bottom],
      ]);
    case "circle":
    case "start":
      return [ring(0)];
    case "double":
      return [ring(0), ring(4)];
    case "end":
      return [ring(0), ring(4, "diagram-box start")];
    case "cylinder": {
      const lip = 7;
      const [from, to] = [path([[x, y + lip]]), path([[right, y + lip]])];
      const arc = `A ${width / 2} ${lip} 0 0`;
      const low = path([[x, bottom - lip]]);
      return [
        make("path", { d: `M ${from} ${arc} 1 ${to} V ${bottom - lip} ${arc} 1 ${low} Z`, class: name }),
        make("path", { d: `M ${from} ${arc} 0 ${to}`, class: "diagram-rule" }),
      ];
    }
    case "subroutine":
      return [
        rect(2),
        make("path", { d: `M ${x + 6} ${y} V ${bottom} M ${right - 6} ${y} V ${bottom}`, class: "diagram-rule" }),
      ];
    case "pill":
      return [rect(height / 2)];
    case "round":
      return [rect(Math.min(14, height / 2))];
    case "bar":
    case "work":
      return [rect(2)];
    default:
      return [rect(6)];
  }
}
