// Where a text that is ahead of its rendered form goes on.

import { type TextStream, textFrom } from "../state/text";

const containers = "p, ul, ol, li, pre, code, blockquote, h1, h2, h3, h4, h5, h6";
const ends = "p, li, code, h1, h2, h3, h4, h5, h6";
const longest_space = 16;

/** The element that the last rendered text is in, so that a sentence goes on in its own paragraph. */
export function tailPlace(rendered: Element): Element {
  let place = rendered;
  for (let next = lastChild(place); next?.matches(containers); next = lastChild(place)) place = next;
  return place.matches(ends) ? place : rendered;
}

function lastChild(element: Element): Element | null {
  const last = element.lastElementChild;
  // Words behind the last element mean that the text did not end inside it.
  for (let node = last?.nextSibling ?? null; node; node = node.nextSibling) {
    if (node.textContent?.trim()) return null;
  }
  return last;
}

/** Rendering drops white space at the end; the tail brings it back, except in code, which keeps it. */
export function tailStart(text: TextStream, renderedLength: number, place: Element): number {
  if (place.localName === "code") return renderedLength;
  const from = Math.max(0, renderedLength - longest_space);
  const before = textFrom(text, from).slice(0, renderedLength - from);
  return renderedLength - (before.length - before.trimEnd().length);
}
