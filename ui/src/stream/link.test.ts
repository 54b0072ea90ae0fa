import { afterEach, expect, it, vi } from "vitest";
import { Link } from "./link";
import type { ToHub } from "./protocol";

afterEach(() => vi.unstubAllGlobals());

it("names its lock only once it holds it, so that nobody takes a tab for gone that has just come", async () => {
  let grant: (() => unknown) | undefined;
  const locks = { request: (_: string, hold: () => unknown) => new Promise(() => (grant = hold)) };
  vi.stubGlobal("navigator", { locks });
  const said: ToHub["type"][] = [];
  const link = new Link(
    () => ({ post: ({ type }) => void said.push(type), close: () => {} }),
    () => null,
  );
  link.wantRows(true);
  expect(said).toEqual(["rows"]);
  grant?.();
  expect(said).toEqual(["rows", "hello"]);
});
