import { expect, it, vi } from "vitest";
import { shieldPress } from "./deliberate";

const here = { clientX: 400, clientY: 300 };
const elsewhere = { clientX: 40, clientY: 600 };

/** Presses there, and says whether the page heard of it. */
function press(place: typeof here): boolean {
  const heard = vi.fn();
  document.body.addEventListener("click", heard);
  for (const type of ["pointermove", "pointerdown", "mousedown", "click"])
    document.body.dispatchEvent(new MouseEvent(type, { ...place, bubbles: true, cancelable: true, detail: 1 }));
  document.body.removeEventListener("click", heard);
  return heard.mock.calls.length > 0;
}

it("the second press of what closed something does nothing", () => {
  expect(press(here)).toBe(true);
  shieldPress();
  expect(press(here)).toBe(false);
  expect(press({ ...here, clientX: here.clientX + 10 }), "a hand is not steady").toBe(false);
});

it("whoever presses elsewhere in between does not press twice", () => {
  press(elsewhere);
  press(here);
  shieldPress();
  expect(press(elsewhere)).toBe(true);
  expect(press(here)).toBe(true);
});
