import { createRoot } from "solid-js";
import { afterEach, expect, it, vi } from "vitest";
import { createWindow } from "./window";

afterEach(() => vi.unstubAllGlobals());

it("asks about everything that leaves the view before it changes any of it", () => {
  const done: string[] = [];
  let see: (changes: { target: Element; isIntersecting: boolean }[]) => void = () => {};
  let measure: (changes: { target: Element; borderBoxSize: { blockSize: number }[] }[]) => void = () => {};
  const observer = { observe() {}, unobserve() {}, disconnect() {} };
  vi.stubGlobal("IntersectionObserver", function (this: unknown, told: typeof see) {
    see = told;
    return observer;
  });
  vi.stubGlobal("ResizeObserver", function (this: unknown, told: typeof measure) {
    measure = told;
    return observer;
  });
  vi.stubGlobal("getSelection", () => {
    done.push("asked");
    return null;
  });
  createRoot((dispose) => {
    const drawn = createWindow(() => 500);
    drawn.attach(document.createElement("div"));
    const entries = ["one", "two"].map((name) => {
      const element = document.createElement("div");
      drawn.watch(element, { isDrawn: () => true, draw() {}, clear: () => done.push(`cleared ${name}`) });
      return element;
    });
    measure(entries.map((target) => ({ target, borderBoxSize: [{ blockSize: 40 }] })));
    see(entries.map((target) => ({ target, isIntersecting: false })));
    expect(done).toEqual(["asked", "asked", "cleared one", "cleared two"]);
    expect(entries.map((element) => element.style.getPropertyValue("--height"))).toEqual(["40px", "40px"]);
    dispose();
  });
});
