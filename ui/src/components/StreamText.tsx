import { createRenderEffect } from "solid-js";
import { unwrap } from "solid-js/store";
import { type TextStream, textFrom } from "../state/text";
import { context_units, pieces } from "../state/visible";
import { markOf } from "./Visible";

/** A text node longer than this is left alone, so that appending stays cheap. */
const node_limit = 4_096;

/** A growing text: what is new is appended to the page, what is there is not touched. Nothing in it is hidden. */
export function StreamText(props: { text: TextStream; from?: number; class?: string }) {
  const element = (<span class={props.class ?? "stream-text"} />) as HTMLSpanElement;
  let drawn = 0;
  let version: number | null = null;
  let from = 0;

  createRenderEffect(() => {
    const { text } = props;
    const start = props.from ?? 0;
    if (text.version !== version || start !== from) {
      version = text.version;
      from = start;
      drawn = start;
      element.replaceChildren();
    }
    if (text.length <= drawn) return;
    const context = Math.min(drawn, context_units);
    for (const piece of pieces(textFrom(unwrap(text), drawn - context), context)) {
      if (typeof piece === "string") appendText(element, piece);
      else element.append(markOf(piece));
    }
    drawn = text.length;
  });
  return element;
}

function appendText(element: HTMLElement, content: string): void {
  const last = element.lastChild;
  if (last instanceof Text && last.length < node_limit) last.appendData(content);
  else element.append(content);
}
