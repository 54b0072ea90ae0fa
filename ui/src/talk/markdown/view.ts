// A growing text as markdown: blocks that are finished stay as the nodes they are, only the last one is read again.

import { Lexer, type Links, type Token } from "marked";
import { insist } from "../../kit/later";
import { type TextStream, textFrom, wholeText } from "../../state/text";
import { Cutter } from "./cuts";
import { mend } from "./mend";
import { morph } from "./morph";
import { blockNode } from "./nodes";

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
  private links: Links = {};
  private text: TextStream | null = null;
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
    const fresh = textFrom(text, this.drawn);
    const cuts = this.cutter.add(fresh);
    // Of a long text that comes at once only the end is drawn.
    const drawnFrom = this.keepsAll ? 0 : this.pieces.length + cuts.length - shown_pieces;
    let used = 0;
    for (const cut of cuts) {
      const length = cut.at - this.drawn;
      this.tail += fresh.slice(used, used + length);
      used += length;
      this.drawn = cut.at;
      if (this.pieces.length - 1 >= drawnFrom) this.draw(false);
      else this.last().shown = false;
      this.begin({ from: cut.at, prefix: cut.prefix, nodes: [], shown: true });
    }
    this.tail += fresh.slice(used);
    this.drawn = text.length;
    this.draw(isOpen);
    this.drop(drawnFrom);
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
    this.begin({ from: 0, prefix: "", nodes: [], shown: true });
    this.element.replaceChildren();
  }

  private begin(piece: Piece): void {
    this.pieces.push(piece);
    this.tail = "";
    this.done = 0;
    this.openNode = null;
  }

  private draw(isOpen: boolean): void {
    const piece = this.last();
    const prefix = this.done === 0 ? piece.prefix : "";
    const source = this.tail.slice(this.done);
    let tokens = lex(prefix + source, this.links);
    const last = tokens.findLastIndex((token) => token.type !== "space");
    const finished = tokens.slice(0, Math.max(0, last)).reduce((sum, token) => sum + token.raw.length, 0);
    const half = tokens[last];
    if (isOpen && half && half.type !== "code") {
      tokens = [...tokens.slice(0, last), ...lex(mend(half.raw), this.links)];
    }
    for (const [index, token] of tokens.entries()) {
      this.place(token, index >= last);
      if (token.type === "code" && (index < last || !isOpen)) paint(this.last().nodes.at(-1));
    }
    if (finished > prefix.length) this.done += finished - prefix.length;
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
  const code = block instanceof Element ? block.querySelector<HTMLElement>("code[class^=language-]") : null;
  if (!code) return;
  void insist(() => import("../../code/highlight")).then(({ colour, languageNamed }) =>
    colour(code, languageNamed(code.className.replace("language-", ""))),
  );
}

function lex(source: string, links: Links): Token[] {
  try {
    const lexer = new Lexer({ gfm: true });
    Object.assign(lexer.tokens.links, links);
    const tokens = lexer.lex(source);
    Object.assign(links, lexer.tokens.links);
    return tokens;
  } catch {
    // Quotes within quotes by the thousand: shown as they are written.
    return [{ type: "html", raw: source, text: source, block: true, pre: false } as Token];
  }
}
