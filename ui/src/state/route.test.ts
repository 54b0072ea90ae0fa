import { createEffect, createRoot } from "solid-js";
import { expect, it } from "vitest";
import { activeId, activePage, goTo, pageHref, readRoute } from "./route";

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

it.each([
  ["", { kind: "home" }],
  ["#/", { kind: "home" }],
  ["#/sessions/a-1", { kind: "session", id: "a-1" }],
  ["#/sessions/a-1/files/src/a%20b.rs:3", { kind: "session", id: "a-1", file: "src/a b.rs", line: 3 }],
  ["#/sessions/a-1/files/a.rs", { kind: "session", id: "a-1", file: "a.rs" }],
  ["#/sessions/a-1/review", { kind: "review", id: "a-1" }],
  ["#/sessions/a-1/review/turn", { kind: "review", id: "a-1", since: "turn" }],
  ["#/sessions/a-1/review/turn/src%2Fa%20b.rs", { kind: "review", id: "a-1", since: "turn", file: "src/a b.rs" }],
  ["#/sessions/a-1/review/head", { kind: "review", id: "a-1", since: "head" }],
  ["#/sessions/a-1/review/base", { kind: "review", id: "a-1", since: "base" }],
  ["#/sessions/a-1/review/nowhere", { kind: "bad" }],
  ["#/artifacts/f-1", { kind: "artifact", id: "f-1" }],
  ["#/sessions/", { kind: "bad" }],
  ["#/sessions/a/b", { kind: "bad" }],
  ["#/nowhere", { kind: "bad" }],
])("%s is read as what it names, and as nothing else", (hash, route) => {
  expect(readRoute(hash)).toEqual(route);
});
