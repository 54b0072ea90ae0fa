// Makes nodes that are on the page into newer ones, touching only what differs: a selection in what stays survives.

/** What a code block is copied as; its text on the page may show marks in the place of characters. */
export const rawText = new WeakMap<Element, string>();

/** False if they are of different kinds, and the old one has to go. */
export function morph(old: Node, fresh: Node): boolean {
  if (old instanceof Text && fresh instanceof Text) {
    if (fresh.data.startsWith(old.data)) {
      if (fresh.length > old.length) old.appendData(fresh.data.slice(old.length));
    } else old.data = fresh.data;
    return true;
  }
  if (!(old instanceof Element && fresh instanceof Element) || !isAlike(old, fresh)) return false;
  const raw = rawText.get(fresh);
  if (raw !== undefined) rawText.set(old, raw);
  const next = [...fresh.childNodes];
  for (const [index, child] of next.entries()) {
    const known = old.childNodes[index];
    if (!known) old.append(child);
    else if (!known.isEqualNode(child) && !morph(known, child)) known.replaceWith(child);
  }
  while (old.childNodes.length > next.length) old.lastChild?.remove();
  return true;
}

function isAlike(old: Element, fresh: Element): boolean {
  return (
    old.tagName === fresh.tagName &&
    old.attributes.length === fresh.attributes.length &&
    [...fresh.attributes].every(({ name, value }) => old.getAttribute(name) === value)
  );
}
