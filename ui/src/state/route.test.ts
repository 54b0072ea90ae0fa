import { createEffect, createRoot } from "solid-js";
import { expect, it } from "vitest";
import { activeId, activePage, goTo, pageHref } from "./route";

it("between a session and a page there is no moment at which nothing is open", () => {
  const seen: string[] = [];
  goTo("s-1");
  const dispose = createRoot((end) => {
    createEffect(() => void seen.push(`${activeId()} ${activePage()}`));
    return end;
  });
  history.replaceState(null, "", pageHref("agents"));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
  goTo("s-2");
  goTo(null);
  dispose();
  expect(seen).toEqual(["s-1 null", "null agents", "s-2 null", "null null"]);
});
