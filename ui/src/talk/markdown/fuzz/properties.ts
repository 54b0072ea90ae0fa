// What holds for markdown on the page, whatever somebody wrote.

import { append, newText } from "../../../state/text";
import { MarkdownView } from "../view";
import type { Random } from "./generate";

const elements = new Set(
  "P H3 H4 H5 H6 PRE CODE FIGURE FIGCAPTION SPAN BUTTON svg path UL OL LI DIV TABLE THEAD TBODY TR TH TD BLOCKQUOTE STRONG EM DEL A BR HR IMG".split(
    " ",
  ),
);
const attributes = new Set(
  "class href target rel src alt loading start title type role aria-label aria-hidden tabindex viewBox d fill stroke stroke-width stroke-linecap stroke-linejoin width height focusable xmlns".split(
    " ",
  ),
);
const own_picture = /^\/api\/sessions\/[\w-]+\/attachments\/[\w-]+$/;
const link = /^(https?|mailto):/;
/** Those that are never in place, whatever stands around them. */
const hidden = /[\u202a-\u202e\u2066-\u2069\u200b\u00ad\u2060]/;
/** Far above what markup around each character takes. */
const html_per_unit = 600;
const html_base = 20_000;

function view(): MarkdownView {
  return new MarkdownView(document.createElement("div"), document.createElement("button"));
}

export function drawnWhole(text: string): HTMLElement {
  const whole = view();
  whole.update(newText(1, text), false);
  return whole.element;
}

function drawnInPieces(text: string, random: Random): HTMLElement {
  const growing = view();
  const stream = newText(1);
  // Of a long text the pieces are long too: each costs as much as the block that it goes on in.
  const longest = Math.max(40, text.length / 12);
  for (let at = 0; at < text.length; ) {
    const length = 1 + random.below(1 + random.below(longest));
    append(stream, text.slice(at, at + length));
    growing.update(stream, true);
    at += length;
  }
  growing.update(stream, false);
  return growing.element;
}

/** The first property that the text breaks; null where all of them hold. */
export function broken(text: string, random: Random): string | null {
  const element = drawnWhole(text);
  const unsafe = unsafeNode(element);
  if (unsafe !== null) return unsafe;
  if (element.innerHTML.length > html_per_unit * text.length + html_base) return "more markup than the text can need";
  const growing = drawnInPieces(text, random);
  const unsafeGrowing = unsafeNode(growing);
  if (unsafeGrowing !== null) return `in pieces: ${unsafeGrowing}`;
  return growing.innerHTML === element.innerHTML ? null : "drawn in pieces it differs from the whole";
}

function unsafeNode(root: HTMLElement): string | null {
  for (const element of root.querySelectorAll("*")) {
    if (!elements.has(element.tagName)) return `an element ${element.tagName}`;
    for (const { name, value } of element.attributes) {
      if (!attributes.has(name)) return `an attribute ${name}`;
      if (name === "href" && !link.test(value)) return `a link to ${value.slice(0, 40)}`;
      if (name === "src" && !own_picture.test(value)) return `a picture from ${value.slice(0, 40)}`;
    }
  }
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (hidden.test(texts.currentNode.textContent ?? "")) return "a character that cannot be seen";
  }
  return null;
}
