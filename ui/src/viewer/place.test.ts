import { describe, expect, it } from "vitest";
import { fileHref, placeIn, placesIn } from "./place";

describe("a path in a text", () => {
  it.each([
    ["src/lib.rs", "src/lib.rs", null],
    ["src/lib.rs:3", "src/lib.rs", 3],
    ["src/lib.rs:3:14", "src/lib.rs", 3],
    ["src/lib.rs:3-9", "src/lib.rs", 3],
    ["src/lib.rs#L7", "src/lib.rs", 7],
    ["./a/b.txt", "./a/b.txt", null],
    ["/home/me/project/a.rs:2", "/home/me/project/a.rs", 2],
    ["Makefile", "Makefile", null],
    [".gitignore", ".gitignore", null],
    ["Cargo.toml:0", "Cargo.toml", null],
  ])("%s leads to a file", (text, path, line) => {
    expect(placeIn(text)).toEqual({ path, line });
  });

  it.each(["https://a.b/c.rs", "let x", "u32", "a/", "1.5", "x".repeat(400), "", "*.rs", "a|b/c.rs"])(
    "%s does not",
    (text) => {
      expect(placeIn(text)).toBeNull();
    },
  );

  it("is found in a sentence, without what is around it", () => {
    const text = "See (src/lib.rs:3), a.txt. Then Makefile and https://x.y/z.rs; “e.g.” 1.5 and/or.";
    expect(placesIn(text).map(({ from, to }) => text.slice(from, to))).toEqual(["src/lib.rs:3", "a.txt", "and/or"]);
  });

  it("has an address that keeps its slashes", () => {
    expect(fileHref("s1", { path: "a b/c:d#.rs", line: 3 })).toBe("#/sessions/s1/files/a%20b/c%3Ad%23.rs:3");
    expect(fileHref("s1", { path: "a.rs", line: null })).toBe("#/sessions/s1/files/a.rs");
  });
});
