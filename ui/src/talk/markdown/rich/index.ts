// What goes beyond plain markdown. A formula or a diagram is drawn in the place of its source when its block is whole.

import type { Token } from "marked";
import { pieces } from "../../../state/visible";
import { rawText } from "../morph";
import { blocks, make, shown } from "../nodes";
import type { Rich } from "../rich";
import { drawMath } from "./math";
import { drawPicture, svgOf } from "./svg";
import { extensions, type FootnoteRefToken, type FootnoteToken, type MathToken } from "./tokens";

/** What stood there before it was drawn. */
const written = new WeakMap<Element, Node[]>();

export const rich: Rich = {
  extensions,
  nodes(token: Token) {
    switch (token.type) {
      case "math":
        return [mathNode(token as unknown as MathToken)];
      case "footnote":
        return [footnote(token as unknown as FootnoteToken)];
      case "footnoteRef":
        return [footnoteRef(token as unknown as FootnoteRefToken)];
      default:
        return null;
    }
  },
  draw(block) {
    const found = [...block.querySelectorAll<HTMLElement>(".math:not(.drawn)")];
    if (block.matches(".math:not(.drawn)")) found.push(block);
    for (const element of found) void draw(element);
    const figures = [block, ...block.querySelectorAll<HTMLElement>("figure")];
    for (const figure of figures)
      if (figure.matches("figure") && figure.querySelector("code.language-mermaid")) void drawDiagram(figure);
  },
  isSame(drawn, fresh) {
    const marks = [...drawn.querySelectorAll(".drawn")];
    if (drawn.matches(".drawn")) marks.push(drawn);
    if (marks.length === 0) return false;
    const twin = drawn.cloneNode(true) as HTMLElement;
    const copies = [...twin.querySelectorAll(".drawn")];
    if (twin.matches(".drawn")) copies.push(twin);
    for (const [index, copy] of copies.entries()) {
      copy.classList.remove("drawn");
      copy.removeAttribute("title");
      if (!copy.classList.contains("math-block")) copy.removeAttribute("tabindex");
      copy.replaceChildren(...(written.get(marks[index] as Element) ?? []).map((node) => node.cloneNode(true)));
    }
    return twin.isEqualNode(fresh);
  },
};

/** As it is written, until it is drawn. */
function mathNode({ raw, tex, isBlock }: MathToken): HTMLElement {
  const code = make("code", undefined, ...shown(raw.trim()));
  const element = make(isBlock ? "div" : "span", isBlock ? "math math-block" : "math", code);
  if (isBlock) element.tabIndex = 0;
  rawText.set(element, tex);
  return element;
}

async function draw(element: HTMLElement): Promise<void> {
  const tex = rawText.get(element) ?? "";
  if (typeof Worker === "undefined") return;
  // What is hidden in it would stay hidden.
  if (pieces(tex).some((piece) => typeof piece !== "string")) return;
  const before = [...element.childNodes];
  const result = await drawMath(tex, element.classList.contains("math-block"));
  if (before.some((node) => node.parentNode !== element) || element.childNodes.length !== before.length) return;
  written.set(element, before);
  element.classList.add("drawn");
  if (typeof result !== "string") {
    element.title = tex.trim();
    element.replaceChildren(result);
    // What is too wide scrolls sideways, for the keyboard too.
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    return;
  }
  const words = `Shown as written: ${result}`;
  if (element.classList.contains("math-block")) element.append(make("small", "not-drawn", ...shown(words)));
  else element.title = words;
}

const begun = new WeakSet<Element>();

/** Its source stays below it, folded. */
async function drawDiagram(figure: HTMLElement): Promise<void> {
  const source = rawText.get(figure) ?? "";
  const code = figure.querySelector("pre");
  if (!code || begun.has(figure) || typeof Worker === "undefined") return;
  begun.add(figure);
  const isHidden = pieces(source).some((piece) => typeof piece !== "string");
  const result = isHidden ? "it holds characters that cannot be seen" : await drawPicture(source);
  if (rawText.get(figure) !== source || code.parentElement !== figure) {
    begun.delete(figure);
    return;
  }
  if (typeof result === "string") {
    figure.append(make("small", "not-drawn", ...shown(`Shown as written: ${result}`)));
    return;
  }
  const picture = make("div", "diagram", svgOf(result));
  picture.tabIndex = 0;
  picture.setAttribute("role", "img");
  const name = result.title ? `${result.kind}, ${result.title}` : result.kind;
  picture.setAttribute("aria-label", `Diagram: ${name}. Its source is below.`);
  const fold = make("details", "diagram-source", make("summary", undefined, "Source"));
  code.before(picture, fold);
  fold.append(code);
}

function footnote({ label, tokens }: FootnoteToken): HTMLElement {
  const name = make("span", "footnote-label", ...shown(label));
  const element = make("div", "footnote", name, make("div", undefined, ...blocks(tokens)));
  element.setAttribute("role", "note");
  element.setAttribute("aria-label", `Footnote ${label}`);
  return element;
}

/** Goes to its footnote, which stands in the same text. */
function footnoteRef({ label }: FootnoteRefToken): HTMLElement {
  const button = make("button", undefined, ...shown(label));
  button.setAttribute("type", "button");
  button.setAttribute("aria-label", `Footnote ${label}`);
  button.addEventListener("click", () => {
    const notes = [...(button.closest(".markdown")?.querySelectorAll<HTMLElement>(".footnote") ?? [])];
    const note = notes.find((element) => element.getAttribute("aria-label") === `Footnote ${label}`);
    if (!note) return;
    note.tabIndex = -1;
    note.scrollIntoView({ block: "nearest" });
    note.focus({ preventScroll: true });
  });
  return make("sup", "footnote-ref", button);
}
