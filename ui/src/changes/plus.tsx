// The sign in the gutter that opens a comment: on the line that has focus, and on the one under the pointer.

import { render } from "solid-js/web";
import { Icon } from "../kit/Icon";
import type { DiffHandle } from "./DiffTable";
import { type Place, placeOfRow } from "./picking";

const plus_class = "gutter-plus";

export const isPlus = (target: EventTarget | null) =>
  target instanceof Element && target.closest(`.${plus_class}`) !== null;

interface Plus {
  /** Moves it to the line, or takes it away. */
  show(line: Element | null): void;
  line(): Element | null;
}

export function addPlus(table: HTMLElement, handle: DiffHandle, onComment: (place: Place) => void): void {
  const focused = createPlus(handle, onComment);
  const pointed = createPlus(handle, onComment);
  const lineOf = (target: EventTarget | null) => (target instanceof Element ? target.closest("tr") : null);
  table.addEventListener("focusin", ({ target }) => {
    // A press gives it the focus, and must not take it away before it is a click.
    if (isPlus(target)) return;
    focused.show(lineOf(target));
    if (pointed.line() === focused.line()) pointed.show(null);
  });
  table.addEventListener("focusout", ({ relatedTarget }) => {
    if (lineOf(relatedTarget) !== focused.line()) focused.show(null);
  });
  table.addEventListener("pointerover", ({ target, pointerType }) => {
    if (pointerType === "touch") return;
    const line = lineOf(target);
    pointed.show(line === focused.line() ? null : line);
  });
  table.addEventListener("pointerleave", () => pointed.show(null));
}

function createPlus(handle: DiffHandle, onComment: (place: Place) => void): Plus {
  const button = document.createElement("button");
  button.type = "button";
  button.className = plus_class;
  render(() => <Icon name="plus" size="small" />, button);
  let place: Place | null = null;
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    if (place) onComment(place);
  });
  return {
    show(line) {
      if (line !== null && line === button.closest("tr")) return;
      const row = line && handle.rowOf(line);
      place = row ? placeOfRow(row) : null;
      const cell = place && [...(line?.querySelectorAll(`td.gutter[data-side=${place.side}]`) ?? [])].at(-1);
      if (!place || !cell) {
        place = null;
        button.remove();
        return;
      }
      button.setAttribute("aria-label", `Comment on line ${place.line}${place.side === "old" ? " as before" : ""}`);
      if (button.parentElement !== cell) cell.append(button);
    },
    line: () => button.closest("tr"),
  };
}
