// The colours of a text as numbers: for each run of characters its length and its class, which is cheap to send between threads
// and cannot change the text.

export type TokenClass = "key" | "str" | "fn" | "num" | "rem";
export interface Token {
  /** Null: plain. */
  class: TokenClass | null;
  text: string;
}
export type Line = Token[];

const classes: (TokenClass | null)[] = [null, "key", "str", "fn", "num", "rem"];
const class_bits = 3;

/** What the library calls the parts of a text, and the few colours that there are for them. `plain` ends what is around it. */
const scopes: Record<string, TokenClass | "plain"> = {
  addition: "str",
  attr: "fn",
  attribute: "fn",
  built_in: "fn",
  bullet: "num",
  char: "str",
  code: "str",
  comment: "rem",
  deletion: "key",
  doctag: "rem",
  keyword: "key",
  link: "str",
  literal: "num",
  meta: "rem",
  name: "key",
  number: "num",
  quote: "rem",
  regexp: "str",
  section: "fn",
  "selector-attr": "fn",
  "selector-class": "fn",
  "selector-id": "fn",
  "selector-pseudo": "fn",
  "selector-tag": "key",
  string: "str",
  subst: "plain",
  symbol: "num",
  "template-tag": "key",
  "template-variable": "fn",
  title: "fn",
  type: "key",
  "variable.constant_": "num",
  "variable.language_": "key",
};

const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

/** Reads the library's HTML: nothing but nested spans with classes, and five entities. Null if it is anything else. */
export function runsOf(html: string, text: string): Uint32Array | null {
  const runs: number[] = [];
  const open = [0];
  let length = 0;
  const add = (count: number) => {
    const of = open.at(-1) ?? 0;
    length += count;
    const last = runs.at(-1);
    if (last !== undefined && (last & ((1 << class_bits) - 1)) === of)
      runs[runs.length - 1] = last + (count << class_bits);
    else if (count > 0) runs.push((count << class_bits) | of);
  };
  for (let at = 0; at < html.length; ) {
    const next = nextMark(html, at);
    if (next > at) add(next - at);
    at = next;
    if (at >= html.length) break;
    if (html[at] === "&") {
      const end = html.indexOf(";", at) + 1;
      const entity = html.slice(at, end);
      if (end === 0 || !Object.hasOwn(entities, entity)) return null;
      add(1);
      at = end;
      continue;
    }
    const end = html.indexOf(">", at) + 1;
    if (end === 0) return null;
    const tag = html.slice(at, end);
    const names = /^<span class="([^"]*)">$/.exec(tag)?.[1];
    if (tag === "</span>") open.pop();
    else if (names !== undefined) open.push(classOf(names, open.at(-1) ?? 0));
    else return null;
    at = end;
  }
  return length === text.length ? Uint32Array.from(runs) : null;
}

function nextMark(html: string, from: number): number {
  for (let at = from; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (code === 38 || code === 60) return at;
  }
  return html.length;
}

function classOf(names: string, around: number): number {
  const [first = "", second] = names.split(" ");
  const scope = first.replace(/^hljs-/, "");
  const found = scopes[`${scope}.${second}`] ?? scopes[scope];
  if (found === undefined) return around;
  return found === "plain" ? 0 : classes.indexOf(found);
}

/** The runs of a text, by lines. */
export function linesOf(text: string, runs: Uint32Array): Line[] {
  const lines: Line[] = [[]];
  let at = 0;
  for (const run of runs) {
    const end = at + (run >>> class_bits);
    const of = classes[run & ((1 << class_bits) - 1)] ?? null;
    while (at < end) {
      const stop = text.indexOf("\n", at);
      const upTo = stop < 0 || stop >= end ? end : stop;
      if (upTo > at) lines.at(-1)?.push({ class: of, text: text.slice(at, upTo) });
      at = upTo;
      if (at < end) {
        lines.push([]);
        at += 1;
      }
    }
  }
  return lines;
}

export function plainLines(text: string): Line[] {
  return text.split("\n").map((line) => (line === "" ? [] : [{ class: null, text: line }]));
}
