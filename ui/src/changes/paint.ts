// A line of code in its cell: its indent, colours, changed words, and what cannot be seen made visible.

import type { Mark } from "../api/types";
import { pieces } from "../code/pieces";
import type { Line } from "../code/runs";
import { markOf } from "../kit/Visible";
import { pieces as visiblePieces } from "../state/visible";

const tab_columns = 2;

/** How many characters a line is set in by, up to the first changed word, and how many columns they take. */
export function indentOf(text: string, marks: readonly Mark[] = []): { units: number; columns: number } {
  const blank = /^[ \t]*/.exec(text)?.[0] ?? "";
  const lead = blank.slice(0, marks[0]?.[0]);
  let columns = 0;
  for (const character of lead) columns += character === "\t" ? tab_columns - (columns % tab_columns) : 1;
  return { units: lead.length, columns };
}

/** Paints the line from a character on; the indent before it has a place of its own. */
export function paint(
  cell: HTMLElement,
  text: string,
  tag: "ins" | "del",
  marks: readonly Mark[] = [],
  line?: Line | null,
  from = 0,
): void {
  const nodes: Node[] = [];
  let marked: HTMLElement | null = null;
  let skip = from;
  for (const piece of pieces(text, line, marks)) {
    const shown = piece.text.slice(skip);
    skip = Math.max(0, skip - piece.text.length);
    if (shown === "") continue;
    const parts = visiblePieces(shown).map((part) =>
      typeof part === "string" ? document.createTextNode(part) : markOf(part),
    );
    let stretch: Node[] = parts;
    if (piece.class !== null) {
      const span = document.createElement("span");
      span.className = `c-${piece.class}`;
      span.append(...parts);
      stretch = [span];
    }
    if (!piece.marked) {
      marked = null;
      nodes.push(...stretch);
      continue;
    }
    if (marked === null) {
      marked = document.createElement(tag);
      nodes.push(marked);
    }
    marked.append(...stretch);
  }
  cell.replaceChildren(...nodes);
}
