// Paths in the conversation become links that open the file beside it. The conversation is drawn without them: they are put in
// when it is there, and again where it is drawn anew. Only what is a file becomes a link.

import { render } from "solid-js/web";
import { Icon } from "../kit/Icon";
import { type Found, fileHref, type Place, placeIn, placesIn } from "./place";
import { createViewable, type Viewable } from "./viewable";
import "./chips.css";

/** What is written in one go is looked at as one. */
const text_block = ".markdown > *";
/** Drawn by others, who leave a link without an address for each path. */
const named_place = "a[data-file]:not([href])";

const fileIcon = document.createElement("span");
fileIcon.className = "file-chip-icon";
fileIcon.setAttribute("aria-hidden", "true");
render(() => <Icon name="file" size="tiny" />, fileIcon);

/** Returns how to stop. `relative` takes the work directory out of a path. */
export function watchPaths(root: HTMLElement, session: string, relative: (path: string) => string): () => void {
  const files = createViewable(session);
  const link = (place: Place) => fileHref(session, { ...place, path: relative(place.path) });
  let isOver = false;

  const visit = (blocks: Iterable<Element>) => {
    const unknown = new Map<Element, string[]>();
    for (const block of blocks) {
      const paths = block.isConnected ? linkIn(block, files, link) : [];
      if (paths.length > 0) unknown.set(block, paths);
    }
    // What was just put in is no news.
    observer.takeRecords();
    if (unknown.size === 0) return;
    void files.ask([...unknown.values()].flat()).then(() => {
      if (isOver) return;
      for (const block of unknown.keys()) if (block.isConnected) linkIn(block, files, link);
      observer.takeRecords();
    });
  };
  const observer = new MutationObserver((records) => visit(touched(records)));
  observer.observe(root, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["data-open", "data-file"],
  });
  visit(root.querySelectorAll(`${text_block}, ${named_place}`));
  return () => {
    isOver = true;
    observer.disconnect();
  };
}

function touched(records: MutationRecord[]): Set<Element> {
  const blocks = new Set<Element>();
  for (const { target, type, addedNodes } of records) {
    const element = target instanceof Element ? target : target.parentElement;
    const block = element?.closest(text_block);
    if (block) blocks.add(block);
    else if (element?.matches("a[data-file]") && type === "attributes") {
      // It names another file now.
      element.removeAttribute("href");
      element.classList.remove("file-chip");
      blocks.add(element);
    }
    // A text that is complete now: its last block was left alone until then.
    else if (type === "attributes" && element?.lastElementChild) blocks.add(element.lastElementChild);
    for (const node of addedNodes) {
      if (!(node instanceof Element)) continue;
      if (node.matches(`${text_block}, ${named_place}`)) blocks.add(node);
      for (const inner of node.querySelectorAll(`${text_block}, ${named_place}`)) blocks.add(inner);
    }
  }
  return blocks;
}

/** Puts in the links that are known to lead somewhere, and gives the paths of which that is not known yet. */
function linkIn(block: Element, files: Viewable, link: (place: Place) => string): string[] {
  const unknown: string[] = [];
  const leads = ({ path }: Place) => {
    const known = files.knows(path);
    if (known === undefined) unknown.push(path);
    return known === true;
  };
  if (block instanceof HTMLAnchorElement && block.dataset.file !== undefined) {
    const place = placeIn(block.dataset.file);
    if (place && leads(place)) {
      block.href = link(place);
      block.title = `Open ${block.dataset.file}`;
      block.classList.add("file-chip");
    }
    return unknown;
  }
  // More may be on its way to the end of a text, and would be drawn over it.
  if (block.parentElement?.dataset.open !== undefined && block === block.parentElement.lastElementChild) return [];
  for (const code of block.querySelectorAll("code")) {
    const place = code.closest("pre, a") ? null : placeIn(code.textContent ?? "");
    if (place && leads(place)) code.replaceWith(chip(code.textContent ?? "", link(place)));
  }
  for (const text of textsIn(block)) {
    const places = placesIn(text.data).filter(leads);
    if (places.length > 0) text.replaceWith(...split(text.data, places, link));
  }
  return unknown;
}

/** The text of sentences: no code, and nothing that is a link already. */
function textsIn(block: Element): Text[] {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
    if (node instanceof Text) return /[./]/.test(node.data) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT;
    return (node as Element).matches("a, code, pre, button, svg") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
  });
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  return texts;
}

function split(text: string, places: Found[], link: (place: Place) => string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let at = 0;
  for (const place of places) {
    nodes.push(text.slice(at, place.from), chip(text.slice(place.from, place.to), link(place)));
    at = place.to;
  }
  nodes.push(text.slice(at));
  return nodes;
}

function chip(text: string, href: string): HTMLElement {
  const code = document.createElement("code");
  code.textContent = text;
  const anchor = document.createElement("a");
  anchor.className = "file-chip";
  anchor.href = href;
  anchor.title = `Open ${text}`;
  anchor.append(fileIcon.cloneNode(true), code);
  return anchor;
}
