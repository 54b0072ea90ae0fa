// Colours for code. The text is never changed, and without a worker, a grammar or the time for it, it stays plain.

import type { Language } from "./languages";
import { createPool, type WorkerLike } from "./pool";
import type { Line, TokenClass } from "./runs";
import "./code.css";

export { languageNamed, languageOf } from "./names";
export type { Language, Line };

const kept_length = 2_000_000;

/** Made when the first text is there to be coloured. */
let pool: ReturnType<typeof createPool> | null = null;
const createWorker = () =>
  new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }) as unknown as WorkerLike;

/** What was asked for, the latest last. */
const kept = new Map<string, { length: number; lines: Promise<Line[] | null> }>();
let keptLength = 0;

/** The tokens of each line; null where there are none to be had. */
export function highlight(text: string, language: Language): Promise<Line[] | null> {
  if (typeof Worker === "undefined") return Promise.resolve(null);
  const key = `${language}\n${text}`;
  const known = kept.get(key);
  if (known) {
    kept.delete(key);
    kept.set(key, known);
    return known.lines;
  }
  pool ??= createPool(createWorker);
  const lines = pool.highlight(text, language);
  kept.set(key, { length: text.length, lines });
  keptLength += text.length;
  for (const [oldest, { length }] of kept) {
    if (keptLength <= kept_length || oldest === key) break;
    kept.delete(oldest);
    keptLength -= length;
  }
  // What was not done because too much waited may be asked for again.
  void lines.then((found) => {
    if (found === null && kept.delete(key)) keptLength -= text.length;
  });
  return lines;
}

/** Colours what an element shows, in place: its text, its height and the elements in it stay as they are. */
export async function colour(element: HTMLElement, language: Language | null): Promise<void> {
  const text = element.textContent ?? "";
  if (language === null || text.trim() === "") return;
  const lines = await highlight(text, language);
  // It may show something else by now.
  if (lines === null || element.textContent !== text || element.querySelector("[class^='c-']")) return;
  paint(element, lines);
}

function paint(element: HTMLElement, lines: Line[]): void {
  const tokens = lines.flatMap((line, index) => (index === 0 ? line : [{ class: null, text: "\n" }, ...line]));
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (walker.nextNode()) nodes.push(walker.currentNode as Text);
  let token = 0;
  let used = 0;
  for (const node of nodes) {
    const pieces: Node[] = [];
    let at = 0;
    while (at < node.data.length) {
      const current = tokens[token];
      if (!current) return;
      const length = Math.min(current.text.length - used, node.data.length - at);
      pieces.push(piece(node.data.slice(at, at + length), current.class));
      at += length;
      used += length;
      if (used === current.text.length) {
        token += 1;
        used = 0;
      }
    }
    node.replaceWith(...pieces);
  }
}

function piece(text: string, of: TokenClass | null): Node {
  if (of === null) return document.createTextNode(text);
  const span = document.createElement("span");
  span.className = `c-${of}`;
  span.textContent = text;
  return span;
}
