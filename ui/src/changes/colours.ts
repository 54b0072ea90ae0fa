// The colours of code, when they come. A diff is read before, and without them.

import { type Accessor, createEffect, createSignal, onCleanup } from "solid-js";
import type { DiffLine } from "../api/types";
import type { Line } from "../code/runs";
import { insist } from "../kit/later";
import type { Side } from "./rows";

export type Colours = (line: DiffLine, side: Side) => Line | undefined;

/** Lines that follow each other are coloured together, each side by itself: a comment may go over several. */
export function createColours(
  blocks: () => readonly DiffLine[][],
  path: () => string | undefined,
): Accessor<Colours | undefined> {
  const [colours, setColours] = createSignal<Colours>();
  createEffect(() => {
    const file = path() ?? "";
    const wanted = blocks();
    let isOver = false;
    onCleanup(() => {
      isOver = true;
    });
    void coloursOf(wanted, file).then((found) => {
      if (found && !isOver) setColours(() => found);
    });
  });
  return colours;
}

async function coloursOf(blocks: readonly DiffLine[][], path: string): Promise<Colours | null> {
  const { highlight, languageOf } = await insist(() => import("../code/highlight"));
  const language = languageOf(path);
  if (language === null) return null;
  const found = { old: new Map<DiffLine, Line>(), new: new Map<DiffLine, Line>() };
  const work = blocks.flatMap((block) =>
    (["old", "new"] as const).map(async (side) => {
      const lines = block.filter((line) => line.kind !== (side === "old" ? "add" : "delete"));
      if (lines.length === 0) return;
      const coloured = await highlight(lines.map((line) => line.text).join("\n"), language);
      coloured?.forEach((line, at) => {
        const of = lines[at];
        if (of) found[side].set(of, line);
      });
    }),
  );
  await Promise.all(work);
  return (line, side) => found[side].get(line);
}
