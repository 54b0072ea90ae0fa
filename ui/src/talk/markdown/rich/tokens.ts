// What the lexer reads beyond plain markdown.

import type { Lexer, MarkedOptions, Token } from "marked";

export interface MathToken {
  type: "math";
  raw: string;
  tex: string;
  isBlock: boolean;
}

export interface FootnoteToken {
  type: "footnote";
  raw: string;
  label: string;
  tokens: Token[];
}

export interface FootnoteRefToken {
  type: "footnoteRef";
  raw: string;
  label: string;
}

type Tokenize = (this: { lexer: Lexer }, source: string) => Token | undefined;

/** Longer ones nobody writes by hand. */
const block_math = /^(?:\$\$([^$]{1,4000}?)\$\$|\\\[([\s\S]{1,4000}?)\\\])[ \t]*(?:\n+|$)/;
/** Not what a shell or a price looks like: no blank at its insides, no letter or digit behind it. */
const inline_math = /^(?:\$(?!\s)([^$\n`]{1,500}?)(?<![\s\\])\$(?![\w$/])|\\\(([^\n`]{1,500}?)\\\))/;
const footnote = /^ {0,3}\[\^([^\]\s^]{1,40})\]:[ \t]*([^\n]*(?:\n(?:[ \t]*\n)*(?: {2,}|\t)[^\n]+)*)(?:\n+|$)/;
const footnote_ref = /^\[\^([^\]\s^]{1,40})\]/;

const token = (fields: MathToken | FootnoteToken | FootnoteRefToken) => fields as unknown as Token;
const keyOf = (label: string) => `^${label.toLowerCase()}`;

const mathBlock: Tokenize = (source) => {
  const [raw, dollars, brackets] = block_math.exec(source) ?? [];
  const tex = dollars ?? brackets;
  return raw && tex?.trim() ? token({ type: "math", raw, tex, isBlock: true }) : undefined;
};

const mathInline: Tokenize = (source) => {
  const [raw, dollars, brackets] = inline_math.exec(source) ?? [];
  const tex = dollars ?? brackets;
  return raw && tex?.trim() ? token({ type: "math", raw, tex, isBlock: false }) : undefined;
};

function footnoteBlock(this: { lexer: Lexer }, source: string): Token | undefined {
  const [raw, label, text] = footnote.exec(source) ?? [];
  if (raw === undefined || label === undefined || text === undefined) return undefined;
  this.lexer.tokens.links[keyOf(label)] ??= { href: "", title: null };
  const tokens = this.lexer.blockTokens(text.replace(/\n(?: {1,4}|\t)/g, "\n"), []);
  return token({ type: "footnote", raw, label, tokens });
}

/** Where nobody wrote the footnote it is a text like any other. */
function footnoteMark(this: { lexer: Lexer }, source: string): Token | undefined {
  const [raw, label] = footnote_ref.exec(source) ?? [];
  if (raw === undefined || label === undefined || !(keyOf(label) in this.lexer.tokens.links)) return undefined;
  return token({ type: "footnoteRef", raw, label });
}

/** Where one may begin: a sign of money only behind a blank or a bracket. */
function inlineStart(source: string): number | undefined {
  const at = source.search(/(?:^|[\s([{"'*_>|,;:–—-])\$|\\\(|\[\^/);
  if (at < 0) return undefined;
  return source[at] === "$" || source[at] === "\\" || source.startsWith("[^", at) ? at : at + 1;
}

function blockStart(source: string): number | undefined {
  const at = source.search(/\n(?:\$\$|\\\[| {0,3}\[\^[^\]\s^]{1,40}\]:)/);
  return at < 0 ? undefined : at + 1;
}

export const extensions = {
  block: [mathBlock, footnoteBlock],
  inline: [mathInline, footnoteMark],
  startBlock: [blockStart],
  startInline: [inlineStart],
  renderers: {},
  childTokens: {},
} as unknown as MarkedOptions["extensions"];

/** The footnotes that a text has; its marks lead to these alone. */
export const footnoteKey = keyOf;
