// Nodes for what the lexer reads. Nothing is ever parsed as HTML: tags in a text are shown as they are written.

import type { MarkedToken, Token, Tokens } from "marked";
import { render } from "solid-js/web";
import { Icon } from "../../kit/Icon";
import { markOf } from "../../kit/Visible";
import { pieces } from "../../state/visible";
import { rawText } from "./morph";
import { loadedRich } from "./rich";

/** Headings of a text stand below those of the page. */
const heading_offset = 2;
const lowest_heading = 6;
/** An attachment of ours; any other picture is a link to it. */
const own_picture = /^\/api\/sessions\/[\w-]+\/attachments\/[\w-]+$/;
const link_schemes = ["http:", "https:", "mailto:"];

export function make(tag: string, className?: string, ...children: (Node | string)[]): HTMLElement {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** A text in which nothing is hidden. */
export function shown(text: string): (Node | string)[] {
  return pieces(text).map((piece) => (typeof piece === "string" ? piece : markOf(piece)));
}

const entities = new Map<string, string>();

/** The lexer leaves references to characters as they are. */
function decode(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,31});/gi, (entity) => {
    let known = entities.get(entity);
    if (known === undefined) {
      known = new DOMParser().parseFromString(entity, "text/html").body.textContent ?? entity;
      if (entities.size < 500) entities.set(entity, known);
    }
    return known;
  });
}

/** A block; null for what is not to be seen. */
export function blockNode(token: Token): HTMLElement | null {
  const block = token as MarkedToken;
  switch (block.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      const level = Math.min(lowest_heading, block.depth + heading_offset);
      return make(`h${level}`, `md-h${block.depth}`, ...inline(block.tokens));
    }
    case "code":
      return codeBlock(block);
    case "hr":
      return make("hr");
    case "blockquote":
      return make("blockquote", undefined, ...blocks(block.tokens));
    case "list":
      return list(block);
    case "table":
      return table(block);
    case "html":
      return make("p", undefined, ...shown(block.text.trimEnd()));
    case "paragraph":
      return make("p", undefined, ...inline(block.tokens));
    default: {
      const [own] = loadedRich()?.nodes(token) ?? [];
      return own instanceof HTMLElement ? own : make("p", undefined, ...inline([token]));
    }
  }
}

export function blocks(tokens: Token[]): Node[] {
  return tokens.flatMap((token) => blockNode(token) ?? []);
}

/** Drawn once, and copied for each. */
const copyIcon = document.createElement("span");
copyIcon.className = "copy-icon";
render(() => <Icon name="copy" />, copyIcon);

/** Its button is served by the text that it stands in, so that a block can be drawn anew without one. */
function codeBlock({ text, lang }: Tokens.Code): HTMLElement {
  const language = lang?.match(/\S+/)?.[0] ?? "";
  const button = make("button", "icon-button copy-button", copyIcon.cloneNode(true));
  button.setAttribute("type", "button");
  button.title = "Copy code";
  button.setAttribute("aria-label", "Copy code");
  const code = make("code", language ? `language-${language.replace(/[^\w+#.-]/g, "")}` : undefined, ...shown(text));
  const pre = make("pre", undefined, code);
  // What is too wide scrolls sideways, for the keyboard too.
  pre.tabIndex = 0;
  const figure = make(
    "figure",
    language ? "code-block" : "code-block bare",
    make("figcaption", undefined, make("span", undefined, ...shown(language)), button),
    pre,
  );
  rawText.set(figure, text);
  return figure;
}

function list(token: Tokens.List): HTMLElement {
  const element = make(token.ordered ? "ol" : "ul");
  if (token.ordered && typeof token.start === "number" && token.start !== 1) {
    element.setAttribute("start", String(token.start));
  }
  for (const item of token.items) {
    const inner = item.tokens.flatMap((part) => {
      if (part.type === "checkbox") return box((part as Tokens.Checkbox).checked);
      // The words of a tight item are no paragraph.
      if (part.type === "text") return inline((part as Tokens.Text).tokens ?? [part]);
      return blockNode(part) ?? [];
    });
    element.append(make("li", item.task ? "task" : undefined, ...inner));
  }
  return element;
}

function box(isDone: boolean): HTMLElement {
  const element = make("span", isDone ? "task-box done" : "task-box");
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", isDone ? "done" : "not done");
  return element;
}

function table(token: Tokens.Table): HTMLElement {
  const cell = (tag: string) => (part: Tokens.TableCell) =>
    make(tag, part.align ? `align-${part.align}` : undefined, ...inline(part.tokens));
  const rows = token.rows.map((row) => make("tr", undefined, ...row.map(cell("td"))));
  const scroller = make(
    "div",
    "table-wrap",
    make(
      "table",
      undefined,
      make("thead", undefined, make("tr", undefined, ...token.header.map(cell("th")))),
      make("tbody", undefined, ...rows),
    ),
  );
  scroller.tabIndex = 0;
  scroller.setAttribute("role", "group");
  scroller.setAttribute("aria-label", "Table");
  return scroller;
}

function inline(tokens: Token[]): (Node | string)[] {
  return tokens.flatMap((token) => inlineNodes(token as MarkedToken));
}

function inlineNodes(token: MarkedToken): (Node | string)[] {
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      return [make(token.type, undefined, ...inline(token.tokens))];
    case "codespan":
      return [make("code", undefined, ...shown(token.text))];
    case "br":
      return [make("br")];
    case "link":
      return link(token);
    case "image":
      return picture(token);
    case "html":
      return shown(token.text);
    case "escape":
      return shown(token.text);
    case "checkbox":
      return [box(token.checked)];
    case "text":
      return token.tokens ? inline(token.tokens) : shown(token.escaped ? token.text : decode(token.text));
    default:
      return loadedRich()?.nodes(token) ?? shown((token as Token).raw);
  }
}

/** Null unless it leads to where a link may lead. */
function target(href: string): string | null {
  try {
    const url = new URL(decode(href));
    return link_schemes.includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function link(token: Tokens.Link): (Node | string)[] {
  const words = inline(token.tokens);
  const href = target(token.href);
  // Where it would have led is not lost.
  if (href === null) return [...words, ...(token.text === token.href ? [] : shown(` (${token.href})`))];
  const anchor = make("a", undefined, ...words) as HTMLAnchorElement;
  anchor.href = href;
  // A link must not take the place of the running page.
  anchor.target = "_blank";
  anchor.rel = "noopener noreferrer";
  return [anchor];
}

function picture(token: Tokens.Image): (Node | string)[] {
  if (!own_picture.test(token.href)) {
    return link({ ...token, type: "link", tokens: [], text: token.text } as Tokens.Link).flatMap((node) => {
      if (node instanceof HTMLAnchorElement) node.append(...shown(token.text || token.href));
      return typeof node === "string" && token.text ? [...shown(token.text), node] : [node];
    });
  }
  const image = make("img") as HTMLImageElement;
  image.src = token.href;
  image.alt = token.text;
  image.loading = "lazy";
  return [image];
}
