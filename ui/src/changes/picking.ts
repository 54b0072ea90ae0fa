// Choosing lines to comment on: a press on a number, a drag over several, or Shift and a press for the rest.

import { createSignal } from "solid-js";
import type { DiffHandle, Range } from "./DiffTable";
import { addPlus, isPlus } from "./plus";
import { numberAt, type Row, type Side } from "./rows";

export interface Picking {
  picked(): Range | null;
  clear(): void;
  /** Makes the rows of a table choosable. */
  attach(element: HTMLElement, handle: DiffHandle): void;
  handle(): DiffHandle | null;
}

export interface Place {
  side: Side;
  line: number;
}

/** From one line to another of the same side, in order. */
export function rangeOf(from: Place, to: Place): Range {
  return { side: from.side, from: Math.min(from.line, to.line), to: Math.max(from.line, to.line) };
}

interface PickingOptions {
  /** Lines were chosen, to be commented on. */
  onPick(range: Range): void;
  /** A finger points at the whole line: numbers are too small for it. */
  byLine(): boolean;
}

export function createPicking(options: PickingOptions): Picking {
  const [picked, setPicked] = createSignal<Range | null>(null);
  const [table, setTable] = createSignal<DiffHandle | null>(null);
  let start: Place | null = null;

  const attach = (element: HTMLElement, handle: DiffHandle) => {
    setTable(handle);
    addPlus(element, handle, (place) => {
      const range = picked();
      const isIn = range?.side === place.side && place.line >= range.from && place.line <= range.to;
      options.onPick(isIn ? range : rangeOf(place, place));
    });
    const placeAt = (target: EventTarget | null): Place | null => {
      const cell = target instanceof Element ? target.closest<HTMLElement>("td[data-side]") : null;
      const line = cell?.closest("tr");
      const row = line && handle.rowOf(line);
      const side = cell?.dataset.side as Side | undefined;
      const number = row && side && numberAt(row, side);
      return number != null && side ? { side, line: number } : null;
    };
    let isDragging = false;
    element.addEventListener("pointerdown", (event) => {
      const isGutter = event.target instanceof Element && event.target.closest("td.gutter") !== null;
      if (event.button !== 0 || !isGutter || event.pointerType === "touch" || isPlus(event.target)) return;
      const place = placeAt(event.target);
      if (!place) return;
      event.preventDefault();
      isDragging = true;
      if (!event.shiftKey || !start || start.side !== place.side) start = place;
      setPicked(rangeOf(start, place));
    });
    element.addEventListener("pointerover", (event) => {
      const place = isDragging ? placeAt(event.target) : null;
      if (place && start && place.side === start.side) setPicked(rangeOf(start, place));
    });
    const end = () => {
      const range = picked();
      if (isDragging && range) options.onPick(range);
      isDragging = false;
    };
    element.addEventListener("pointerup", end);
    element.addEventListener("click", (event) => {
      if (!options.byLine() || !getSelection()?.isCollapsed || isPlus(event.target)) return;
      const line = event.target instanceof Element ? event.target.closest("tr") : null;
      const place = placeAt(event.target);
      if (!place || !line) return;
      start = place;
      // Its sign to comment on it comes with the focus.
      line.focus({ preventScroll: true });
    });
    element.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const row = handle.focused();
      if (step === undefined || !row || event.ctrlKey || event.altKey || event.metaKey) return;
      const rows = handle.rows();
      let at = rows.indexOf(row) + step;
      while (rows[at]?.kind === "gap") at += step;
      const next = rows[at];
      if (!next) return;
      event.preventDefault();
      handle.focus(next);
      const [here, there] = [placeOfRow(row), placeOfRow(next)];
      if (!event.shiftKey) {
        start = there;
        setPicked(null);
      } else if (here && there) {
        if (!picked() || !start) start = here;
        if (there.side === start.side) setPicked(rangeOf(start, there));
      }
    });
  };
  return { picked, clear: () => setPicked(null), attach, handle: table };
}

/** Where a comment on this row stands: beside what is new, where there is something. */
export function placeOfRow(row: Row): Place | null {
  for (const side of ["new", "old"] as const) {
    const line = numberAt(row, side);
    if (line !== null) return { side, line };
  }
  return null;
}
