import { expect, it } from "vitest";
import { indentOf, paint } from "./paint";

it("paints one mark around several colours, and what is hidden visibly", () => {
  const cell = document.createElement("td");
  paint(
    cell,
    "x = y\u202e;",
    "ins",
    [[0, 5]],
    [
      { class: "key", text: "x" },
      { class: null, text: " = y\u202e;" },
    ],
  );
  expect(cell.querySelectorAll("ins")).toHaveLength(1);
  expect(cell.querySelector("ins")?.textContent).toBe("x = y");
  expect(cell.querySelector("ins .c-key")?.textContent).toBe("x");
  expect(cell.querySelector(".hidden-char")?.textContent).toBe("⟨U+202E⟩");
});

it("survives marks beyond the line, and a line without anything", () => {
  const cell = document.createElement("td");
  paint(cell, "ab", "del", [[1, 9]]);
  expect(cell.innerHTML).toBe("a<del>b</del>");
  paint(cell, "", "del", [[0, 3]]);
  expect(cell.childNodes).toHaveLength(0);
});

it("an indent has a place of its own, but not where it is what changed", () => {
  expect(indentOf("    a")).toEqual({ units: 4, columns: 4 });
  expect(indentOf(" \t\ta")).toEqual({ units: 3, columns: 4 });
  expect(indentOf("    a", [[2, 4]])).toEqual({ units: 2, columns: 2 });
  const cell = document.createElement("td");
  paint(
    cell,
    "    let a",
    "ins",
    [[8, 9]],
    [
      { class: null, text: "    " },
      { class: "key", text: "let" },
      { class: null, text: " a" },
    ],
    4,
  );
  expect(cell.innerHTML).toBe('<span class="c-key">let</span> <ins>a</ins>');
});
