// Formulas: a worker makes MathML of them, of which only what is known to be harmless comes onto the page.

import { createBounded } from "./bounded";
import type { MathJob } from "./mathWorker";

const longest_markup = 200_000;
const most_nodes = 4_000;
const deepest = 60;

const namespace = "http://www.w3.org/1998/Math/MathML";
const elements = new Set(
  (
    "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder mover " +
    "munderover mmultiscripts mprescripts none mtable mtr mtd menclose"
  ).split(" "),
);
const attributes = new Set(
  (
    "display mathvariant stretchy symmetric fence separator lspace rspace form movablelimits largeop minsize maxsize " +
    "linethickness columnalign columnlines rowlines columnspacing rowspacing rowspan columnspan accent accentunder " +
    "width height depth voffset scriptlevel displaystyle notation mathcolor mathbackground"
  ).split(" "),
);
/** Of a style, which the page's policy takes by its properties alone. */
const properties = new Set([
  "color",
  "background-color",
  "border",
  "padding",
  "padding-left",
  "padding-right",
  "text-align",
  "math-style",
  "math-depth",
]);

const ask = createBounded<MathJob, string>(
  () => new Worker(new URL("./mathWorker.ts", import.meta.url), { type: "module" }),
);

/** The formula, or why there is none. */
export async function drawMath(tex: string, isBlock: boolean): Promise<Element | string> {
  const outcome = await ask(`${isBlock} ${tex}`, { tex, isBlock });
  if ("error" in outcome) return outcome.error;
  if (outcome.result.length > longest_markup) return "it is too large";
  return harmless(outcome.result) ?? "it is too large";
}

/** Null: more than is worth drawing. */
export function harmless(markup: string): Element | null {
  // The page's policy speaks up about a style that is only parsed.
  const parsed = markup.replace(/(<[a-z][^<>]*? )style="/g, '$1data-style="');
  const found = new DOMParser().parseFromString(parsed, "text/html").querySelector("math");
  let left = most_nodes;
  const copy = (node: Node, depth: number): Node | null => {
    left -= 1;
    if (left < 0 || depth > deepest) return null;
    if (node instanceof Text) return document.createTextNode(node.data);
    if (!(node instanceof Element)) return document.createTextNode("");
    const name = elements.has(node.localName) ? node.localName : "mrow";
    const fresh = document.createElementNS(namespace, name) as MathMLElement;
    for (const { name, value } of node.attributes) if (attributes.has(name)) fresh.setAttribute(name, value);
    for (const [property, value] of declarations(node.getAttribute("data-style") ?? "")) {
      if (properties.has(property) && !/url\(/i.test(value)) fresh.style?.setProperty(property, value);
    }
    for (const child of node.childNodes) {
      const made = copy(child, depth + 1);
      if (made === null) return null;
      fresh.append(made);
    }
    return fresh;
  };
  return found && (copy(found, 0) as Element | null);
}

const declarations = (style: string): [string, string][] =>
  style.split(";").flatMap((part) => {
    const [property, value] = part.split(":", 2).map((word) => word.trim());
    return property && value ? [[property, value] as [string, string]] : [];
  });
