// Finds words in what is drawn, and marks them without touching the document.

/** More marks than this help nobody. */
const most = 500;
const block =
  "p, li, td, th, pre, h1, h2, h3, h4, h5, h6, div, summary, blockquote, figcaption, details, article, button";

/** A space stands for any, and case does not matter. */
export function patternOf(query: string): RegExp | null {
  const wanted = query.trim();
  if (wanted === "") return null;
  return new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"), "giu");
}

export function countIn(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count += 1;
  return count;
}

/** Where the words are in what is to be seen of an element, in order. */
export function rangesIn(root: Element, pattern: RegExp): Range[] {
  const nodes: { node: Text; from: number }[] = [];
  let text = "";
  let last: Element | null = null;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    const parent = node.parentElement;
    if (!parent || parent.closest(".visually-hidden, script, style") || parent.checkVisibility?.() === false) continue;
    const around = parent.closest(block);
    if (last && around !== last) text += "\n";
    last = around;
    nodes.push({ node, from: text.length });
    text += node.data;
  }
  const at = (offset: number, isEnd: boolean) => {
    const place = nodes.findLast(({ from }) => (isEnd ? from < offset : from <= offset));
    return place && { node: place.node, offset: Math.min(offset - place.from, place.node.length) };
  };
  const ranges: Range[] = [];
  for (const { index, 0: found } of text.matchAll(pattern)) {
    const [start, end] = [at(index, false), at(index + found.length, true)];
    if (!start || !end) continue;
    const range = document.createRange();
    range.setStart(start.node, start.offset);
    range.setEnd(end.node, end.offset);
    ranges.push(range);
    if (ranges.length >= most) break;
  }
  return ranges;
}

/** A browser that cannot mark so shows the place alone. */
export function mark(name: "found" | "found-here", ranges: Range[]): void {
  if (typeof Highlight === "undefined" || !CSS.highlights) return;
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}
