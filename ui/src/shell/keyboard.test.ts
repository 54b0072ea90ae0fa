import { afterEach, expect, it, vi } from "vitest";
import { watchShortcuts } from "./keyboard";

let end: (() => void) | undefined;
afterEach(() => {
  end?.();
  document.body.replaceChildren();
});

/** The keys of the page, with what the second Escape does. */
function watch() {
  const stop = vi.fn();
  const nothing = () => {};
  end = watchShortcuts({
    palette: nothing,
    help: nothing,
    fresh: nothing,
    changes: nothing,
    find: () => null,
    step: nothing,
    nextWaiting: nothing,
    stop,
  });
  return stop;
}

function pressEscape(at_ms: number): void {
  const event = new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true });
  Object.defineProperty(event, "timeStamp", { value: at_ms });
  document.body.dispatchEvent(event);
}

it("one Escape stops nothing, however early it comes after the page was opened", () => {
  const stop = watch();
  pressEscape(300);
  expect(stop).not.toHaveBeenCalled();
  pressEscape(1_200);
  expect(stop, "two, but not one wish").not.toHaveBeenCalled();
});

it("two stop once, and a third begins anew", () => {
  const stop = watch();
  for (const at of [300, 600, 900]) pressEscape(at);
  expect(stop).toHaveBeenCalledTimes(1);
  pressEscape(1_200);
  expect(stop).toHaveBeenCalledTimes(2);
});

it("what closes something is no wish to stop", () => {
  const stop = watch();
  const menu = document.createElement("div");
  menu.className = "menu";
  document.body.append(menu);
  pressEscape(300);
  menu.remove();
  pressEscape(600);
  expect(stop).not.toHaveBeenCalled();
});
