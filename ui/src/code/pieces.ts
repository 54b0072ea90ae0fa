// The stretches of a line that look alike. Needs nothing of the highlighter, which may still be on its way.

import type { Line, TokenClass } from "./runs";

export interface Piece {
  text: string;
  class: TokenClass | null;
  marked: boolean;
}

/** One line of a diff: its tokens, cut where a changed word begins and ends. `marks` count UTF-16 code units of the line. */
export function pieces(
  text: string,
  line: Line | null | undefined,
  marks: readonly (readonly number[])[] = [],
): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const token of line ?? [{ class: null, text }]) {
    const end = at + token.text.length;
    while (at < end) {
      const [from, to] = marks.find(([, to = 0]) => to > at) ?? [end, end];
      const marked = from !== undefined && from <= at;
      const stop = Math.min(end, (marked ? to : from) ?? end);
      found.push({ text: text.slice(at, stop), class: token.class, marked });
      at = stop;
    }
  }
  return found;
}
