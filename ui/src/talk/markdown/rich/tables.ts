// Boxes of several parts: a head, and below it lists.

import { type Box, line_px, unquoted, widthOf } from "./picture";

/** More of one are cut: the rest is in the source. */
const most_rows = 60;
const longest_row = 70;

export function tableBox(head: string[], parts: string[][]): Box {
  const lines = [...head];
  const rules: number[] = [];
  for (const part of parts) {
    if (part.length === 0) continue;
    rules.push(lines.length);
    lines.push(
      ...part.slice(0, most_rows).map((row) => (row.length > longest_row ? `${row.slice(0, longest_row)}…` : row)),
    );
    if (part.length > most_rows) lines.push(`… ${part.length - most_rows} more`);
  }
  const width = Math.max(72, ...lines.map((line) => widthOf(line) + 28));
  return { x: 0, y: 0, width, height: lines.length * line_px + 14, lines, shape: "table", head: head.length, rules };
}

/** Generic types, as Mermaid writes them: List~int~. */
export function typed(text: string): string {
  return unquoted(text)
    .replace(/~([^~]+)~/g, "<$1>")
    .replace(/~([^~]+)~/g, "<$1>");
}
