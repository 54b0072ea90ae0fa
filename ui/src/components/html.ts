// Puts HTML that the server rendered and sanitised into the page.

/** Replaces only what differs, so that a selection survives while the text below it grows. */
export function patchHtml(element: HTMLElement, html: string): void {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const link of template.content.querySelectorAll<HTMLAnchorElement>("a[href]")) {
    // A link must not take the place of the running page.
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  for (const box of template.content.querySelectorAll<HTMLElement>("pre, .table-wrap")) {
    // What is too wide scrolls sideways, for the keyboard too.
    box.tabIndex = 0;
  }
  const fresh = [...template.content.childNodes];
  let same = 0;
  while (same < fresh.length && element.childNodes[same]?.isEqualNode(fresh[same] ?? null)) same += 1;
  while (element.childNodes.length > same) element.lastChild?.remove();
  element.append(...fresh.slice(same));
}
