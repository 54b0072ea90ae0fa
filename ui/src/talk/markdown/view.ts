// A growing text as markdown: blocks that are finished stay as the nodes they are, only the last one is read again.

import { Lexer, type Links, type MarkedToken, type Token } from "marked";
import { insist } from "../../kit/later";
import { type TextStream, textFrom, wholeText } from "../../state/text";
import { Cutter } from "./cuts";
import { mend } from "./mend";
import { morph, rawText } from "./morph";
import { blockNode } from "./nodes";
import { loadedRich, loadRich, mayBeRich } from "./rich";

/** Pieces of a long text that are on the page unless somebody asks for more. */
const shown_pieces = 4;

interface Piece {
  from: number;
  prefix: string;
  /** Empty until it is shown. */
  nodes: ChildNode[];
  shown: boolean;
}

export class MarkdownView {
  private cutter = new Cutter();
  private pieces: Piece[] = [{ from: 0, prefix: "", nodes: [], shown: true }];
  private drawn = 0;
  private version: number | null = null;
  /** Of the last piece: what has come of it, and how much of that is in finished blocks. */
  private tail = "";
  private done = 0;
  private openNode: ChildNode | null = null;
  /** It was drawn before all of it had come. */
  private grew = false;
  /** What the finished blocks have defined, and those of the pieces before the last alone. */
  private links: Links = {};
  private earlierLinks: Links = {};
  private text: TextStream | null = null;
  private isOpen = false;
  /** Somebody reads further up: then nothing is taken away there. */
  private keepsAll = false;

  constructor(
    readonly element: HTMLElement,
    private readonly earlier: HTMLElement,
  ) {}

  /** `isOpen`: more is to come, and the last block may be half a one. */
  update(text: TextStream, isOpen: boolean): void {
    if (text.version !== this.version) this.reset(text.version);
    this.text = text;
    this.isOpen = isOpen;
    const fresh = textFrom(text, this.drawn);
    if (!loadedRich() && mayBeRich(fresh)) void loadRich().then(() => this.drawAnew());
    const cuts = this.cutter.add(fresh);
    // Of a long text that comes at once only the end is drawn.
    const drawnFrom = this.keepsAll ? 0 : this.pieces.length + cuts.length - shown_pieces;
    let used = 0;
    for (const cut of cuts) {
      const length = cut.at - this.drawn;
      this.tail += fresh.slice(used, used + length);
      used += length;
      this.drawn = cut.at;
      if (this.pieces.length - 1 >= drawnFrom) this.finish();
      else this.last().shown = false;
      this.begin({ from: cut.at, prefix: cut.prefix, nodes: [], shown: true });
    }
    this.tail += fresh.slice(used);
    this.drawn = text.length;
    if (isOpen) this.draw(true);
    else this.finish();
    this.drop(drawnFrom);
  }

  /** What could not be read as what it is before. */
  private drawAnew(): void {
    if (!loadedRich() || !this.text) return;
    if (this.isOpen) {
      this.version = null;
      this.update(this.text, true);
    } else this.settle();
  }

  /** One piece more, above what is there. */
  showEarlier(): void {
    this.keepsAll = true;
    const index = this.pieces.findIndex((piece) => piece.shown) - 1;
    const piece = this.pieces[index];
    if (!piece || !this.text) return;
    const source = wholeText(this.text).slice(piece.from, this.pieces[index + 1]?.from);
    piece.nodes = lex(piece.prefix + source, this.links).flatMap((token) => blockNode(token) ?? []);
    piece.shown = true;
    for (const node of piece.nodes) paint(node);
    this.earlier.after(...piece.nodes);
    this.offerEarlier();
  }

  private last(): Piece {
    return this.pieces[this.pieces.length - 1] as Piece;
  }

  private reset(version: number): void {
    this.version = version;
    this.cutter = new Cutter();
    this.pieces = [];
    this.drawn = 0;
    this.links = {};
    this.grew = false;
    this.begin({ from: 0, prefix: "", nodes: [], shown: true });
    this.element.replaceChildren();
  }

  private begin(piece: Piece): void {
    this.pieces.push(piece);
    this.tail = "";
    this.done = 0;
    this.openNode = null;
    this.grew = false;
    this.earlierLinks = { ...this.links };
  }

  /** What comes later can change what a block was: one that was drawn as it grew is read once more as a whole. */
  private finish(): void {
    if (this.grew) this.settle();
    else this.draw(false);
  }

  private settle(): void {
    const piece = this.last();
    this.links = { ...this.earlierLinks };
    const tokens = lex(piece.prefix + this.tail, this.links);
    this.note(tokens, piece.prefix.length, true);
    const fresh = tokens.flatMap((token) => blockNode(token) ?? []);
    for (const [index, node] of fresh.entries()) {
      const known = piece.nodes[index];
      if (known && isSame(known, node)) {
        paint(known);
        continue;
      }
      if (!known || !morph(known, node)) {
        if (known) known.replaceWith(node);
        else this.element.append(node);
        piece.nodes[index] = node;
      }
      paint(piece.nodes[index]);
    }
    for (const left of piece.nodes.splice(fresh.length)) left.remove();
    this.openNode = piece.nodes.at(-1) ?? null;
  }

  /** Remembers which blocks are finished, and what they define: half a definition is none. Gives the index of the last block. */
  private note(tokens: Token[], prefixLength: number, isWhole: boolean): number {
    const last = tokens.findLastIndex((token) => token.type !== "space");
    const before = tokens.slice(0, Math.max(0, last));
    define(isWhole ? tokens : before, this.links);
    const finished = before.reduce((sum, token) => sum + token.raw.length, 0);
    this.done = isWhole ? Math.max(0, finished - prefixLength) : this.done + Math.max(0, finished - prefixLength);
    return last;
  }

  private draw(isOpen: boolean): void {
    const piece = this.last();
    const prefix = this.done === 0 ? piece.prefix : "";
    const source = this.tail.slice(this.done);
    let tokens = lex(prefix + source, this.links);
    const last = this.note(tokens, prefix.length, false);
    const half = tokens[last];
    if (isOpen && half && half.type !== "code") {
      tokens = [...tokens.slice(0, last), ...lex(mend(half.raw), this.links)];
    }
    for (const [index, token] of tokens.entries()) {
      this.place(token, index >= last);
      if (token.type !== "space" && (index < last || !isOpen)) paint(this.last().nodes.at(-1));
    }
    this.grew = true;
  }

  /** The first token is the open block of the last time, told anew. */
  private place(token: Token, isLast: boolean): void {
    const node = blockNode(token);
    if (node === null) return;
    const piece = this.last();
    const known = this.openNode;
    this.openNode = null;
    if (known && morph(known, node)) {
      if (isLast) this.openNode = known;
      return;
    }
    if (known) {
      known.replaceWith(node);
      piece.nodes[piece.nodes.indexOf(known)] = node;
    } else {
      this.element.append(node);
      piece.nodes.push(node);
    }
    if (isLast) this.openNode = node;
  }

  /** What is far above goes from the page, not from the text. */
  private drop(drawnFrom: number): void {
    for (const piece of this.pieces.slice(0, Math.max(0, drawnFrom))) {
      for (const node of piece.nodes) node.remove();
      piece.nodes = [];
      piece.shown = false;
    }
    this.offerEarlier();
  }

  private offerEarlier(): void {
    if (this.pieces[0]?.shown) this.earlier.remove();
    else if (!this.earlier.isConnected || this.earlier !== this.element.firstChild) this.element.prepend(this.earlier);
  }
}

/** Code gets its colours when it is whole, from what is loaded when the first is there. */
function paint(block: ChildNode | undefined): void {
  if (block instanceof HTMLElement) loadedRich()?.draw(block);
  const code = block instanceof Element ? block.querySelector<HTMLElement>("code[class^=language-]") : null;
  if (!code) return;
  void insist(() => import("../../code/highlight")).then(({ colour, languageNamed }) =>
    colour(code, languageNamed(code.className.replace("language-", ""))),
  );
}

/** The same block, whether or not its code has colours by now. */
function isSame(known: ChildNode, node: HTMLElement): boolean {
  if (known.isEqualNode(node)) return true;
  if (known instanceof HTMLElement && loadedRich()?.isSame(known, node)) return true;
  const raw = known instanceof HTMLElement ? rawText.get(known) : undefined;
  const caption = (block: ChildNode) => block.firstChild?.textContent;
  return raw !== undefined && raw === rawText.get(node) && caption(known) === caption(node);
}

/** The definitions of links in these blocks; the first of a name counts. */
function define(tokens: Token[], links: Links): void {
  for (const token of tokens as MarkedToken[]) {
    if (token.type === "def") links[token.tag] ??= { href: token.href, title: token.title };
    else if ((token as Token).type === "footnote")
      links[`^${(token as unknown as { label: string }).label.toLowerCase()}`] ??= { href: "", title: null };
    else if (token.type === "blockquote") define(token.tokens, links);
    else if (token.type === "list") for (const item of token.items) define(item.tokens, links);
  }
}

function lex(source: string, links: Links): Token[] {
  try {
    const lexer = new Lexer({ gfm: true, extensions: loadedRich()?.extensions ?? null });
    Object.assign(lexer.tokens.links, links);
    return lexer.lex(source);
  } catch {
    // Quotes within quotes by the thousand: shown as they are written.
    return [{ type: "html", raw: source, text: source, block: true, pre: false } as Token];
  }
}
