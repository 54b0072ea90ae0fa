import { createRoot } from "solid-js";
import { render } from "solid-js/web";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { DiffHunk } from "../api/types";
// What the diff would load for its colours is here before the test has ended.
import "../code/highlight";
import { DiffTable } from "./DiffTable";
import { createPicking, type Picking } from "./picking";

const hunk: DiffHunk = {
  old_start: 1,
  old_lines: 2,
  new_start: 1,
  new_lines: 3,
  lines: [
    { kind: "context", old: 1, new: 1, text: "one" },
    { kind: "delete", old: 2, text: "two", marks: [[0, 3]] },
    { kind: "add", new: 2, text: "zwei", marks: [[0, 4]] },
    { kind: "add", new: 3, text: "drei", no_newline: true },
  ],
};

let host: HTMLElement;
let stop: () => void;
let picking: Picking;
const onPick = vi.fn();

beforeEach(() => {
  onPick.mockReset();
  host = document.createElement("div");
  document.body.append(host);
  picking = createRoot(() => createPicking({ onPick, byLine: () => false }));
  stop = render(
    () => <DiffTable hunks={[hunk]} mode="unified" path="a.txt" picked={picking.picked()} handle={picking.attach} />,
    host,
  );
});
afterEach(() => {
  stop();
  host.remove();
});

const row = (text: string) => [...host.querySelectorAll("tr")].find((one) => one.textContent?.includes(text));
const pointer = (text: string, type: string, more: object = {}) =>
  row(text)
    ?.querySelector("td.gutter")
    ?.dispatchEvent(new MouseEvent(type, { bubbles: true, button: 0, ...more }));

it("a diff has numbers, signs by class, and changed words; the end of the file is a mark", () => {
  expect(host.querySelector("[role=group]")?.getAttribute("aria-label")).toBe("Change of a.txt");
  expect(row("two")?.querySelector("td.code.delete del")?.textContent).toBe("two");
  expect(row("zwei")?.querySelector("td.code.add ins")?.textContent).toBe("zwei");
  expect([...(row("one")?.querySelectorAll(".gutter") ?? [])].map((cell) => cell.textContent)).toEqual(["1", "1"]);
  expect(row("drei")?.querySelector(".no-end")?.getAttribute("aria-label")).toBe("no newline");
});

it("lines are chosen by a drag over their numbers, and by Shift", () => {
  pointer("zwei", "pointerdown");
  pointer("drei", "pointerover");
  expect(host.querySelectorAll("tr.picked")).toHaveLength(2);
  pointer("drei", "pointerup");
  expect(onPick).toHaveBeenCalledWith({ side: "new", from: 2, to: 3 });
  pointer("one", "pointerdown", { shiftKey: true });
  pointer("one", "pointerup", { shiftKey: true });
  expect(onPick).toHaveBeenLastCalledWith({ side: "new", from: 1, to: 2 });
});

it("lines are chosen by keys", () => {
  const [, second] = picking.handle()?.rows() ?? [];
  const table = picking.handle();
  if (second) table?.focus(second);
  expect(document.activeElement).toBe(row("two"));
  const press = (key: string, shiftKey = false) =>
    document.activeElement?.dispatchEvent(
      new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }),
    );
  press("ArrowDown");
  expect(document.activeElement).toBe(row("zwei"));
  press("ArrowDown", true);
  expect(picking.picked()).toEqual({ side: "new", from: 2, to: 3 });
});

it("the line with focus can be commented on, and the one under the pointer too", () => {
  const [first] = picking.handle()?.rows() ?? [];
  if (first) picking.handle()?.focus(first);
  const signs = () => [...host.querySelectorAll<HTMLElement>(".gutter-plus")];
  expect(signs().map((sign) => [sign.closest("tr"), sign.ariaLabel ?? sign.getAttribute("aria-label")])).toEqual([
    [row("one"), "Comment on line 1"],
  ]);
  row("two")
    ?.querySelector("td.code")
    ?.dispatchEvent(new MouseEvent("pointerover", { bubbles: true }));
  expect(signs().map((sign) => sign.closest("tr"))).toEqual([row("one"), row("two")]);
  signs()[1]?.focus();
  expect(signs().at(-1)?.closest("tr"), "pressed, it stays until it is clicked").toBe(row("two"));
  signs().at(-1)?.click();
  expect(onPick).toHaveBeenCalledWith({ side: "old", from: 2, to: 2 });
  if (first) picking.handle()?.focus(first);
  signs()[0]?.click();
  expect(onPick).toHaveBeenLastCalledWith({ side: "new", from: 1, to: 1 });
});
