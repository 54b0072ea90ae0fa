// Whether everything that can be pressed can be seen and pressed.

import { expect, type Page } from "@playwright/test";

/** The controls that cannot be brought into sight whole, and what would have to be scrolled in both directions. */
function unreachable(): string[] {
  const found: string[] = [];
  const { innerWidth: width, innerHeight: height } = window;
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`the page is ${scrollWidth - clientWidth} px too wide`);
  // What lies over the rest is what can be pressed.
  const over = [...document.querySelectorAll("dialog[open], [role=menu], .approvals.waiting")].filter(
    (box) => !box.matches(".approvals") || getComputedStyle(box).position === "fixed",
  );
  const open = over.at(-1) ?? document.body;
  const isSeen = (element: Element) =>
    element.checkVisibility({
      opacityProperty: true,
      visibilityProperty: true,
    }) && !element.closest("[inert], [aria-hidden=true], .visually-hidden");
  const nameOf = (element: Element) =>
    `${element.tagName.toLowerCase()} “${(element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 40)}”`;
  // Code keeps its lines, and a table its columns.
  const keepsLines = "pre, code, table, .diff, .diff-scroll, [class*=code], [class*=table]";
  for (const box of open.querySelectorAll("*")) {
    const isScroller = /auto|scroll/.test(getComputedStyle(box).overflowX);
    if (!isScroller || box.scrollWidth <= box.clientWidth + 1 || !isSeen(box)) continue;
    if (!box.matches(keepsLines) && !box.querySelector("pre, code, table"))
      found.push(`${nameOf(box)} .${box.className} scrolls sideways`);
  }
  const controls = "a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary";
  for (const control of open.querySelectorAll(controls)) {
    const { width: wide, height: high } = control.getBoundingClientRect();
    if (!isSeen(control) || wide < 2 || high < 2) continue;
    control.scrollIntoView({
      block: "center",
      inline: "nearest",
      behavior: "instant",
    });
    const { left, right, top, bottom } = control.getBoundingClientRect();
    if (left < -1 || right > width + 1) {
      found.push(`${nameOf(control)} is cut off at ${Math.round(left)} to ${Math.round(right)} of ${width}`);
      continue;
    }
    const middle = {
      x: (left + right) / 2,
      y: (Math.max(top, 0) + Math.min(bottom, height)) / 2,
    };
    const at = document.elementFromPoint(middle.x, middle.y);
    const label = control.closest("label");
    if (!at || !(control.contains(at) || label?.contains(at)))
      found.push(
        `${nameOf(control)} is covered at ${Math.round(middle.x)},${Math.round(middle.y)} by ${at?.className}`,
      );
  }
  return found;
}

/** As a window of this size shows it at 200 %. */
export async function expectReachableAtTwice(page: Page): Promise<void> {
  const size = page.viewportSize() ?? { width: 1280, height: 800 };
  await page.setViewportSize({ width: size.width / 2, height: size.height / 2 });
  try {
    await expect.poll(() => page.evaluate(unreachable), { message: "at 200 %", timeout: 4_000 }).toEqual([]);
  } finally {
    await page.setViewportSize(size);
  }
}
