import { describe, expect, it } from "vitest";
import { seeded } from "../state/testing/log";
import { countChanges, type DiffLine, diffTexts, readUnified } from "./lines";

const show = (lines: DiffLine[]) => lines.map(({ kind, text }) => `${kind[0]}${kind[1]} ${text}`);

describe("diffTexts", () => {
  it("shows what changed with its surroundings", () => {
    expect(show(diffTexts("a\nb\nc\n", "a\nx\nc\n"))).toEqual(["sa a", "re b", "ad x", "sa c"]);
  });

  it("shows a new file as added", () => {
    expect(show(diffTexts(null, "a\nb"))).toEqual(["ad a", "ad b"]);
  });

  it("counts long runs of unchanged lines instead of showing them", () => {
    const before = Array.from({ length: 20 }, (_, line) => `${line}`);
    const after = [...before.slice(0, 10), "new", ...before.slice(10)];
    const lines = diffTexts(before.join("\n"), after.join("\n"));
    expect(show(lines)).toEqual([
      "sk 7 unchanged lines",
      ...["7", "8", "9"].map((line) => `sa ${line}`),
      "ad new",
      ...["10", "11", "12"].map((line) => `sa ${line}`),
      "sk 7 unchanged lines",
    ]);
  });

  it("keeps every line of both texts, in order, and is as short as can be on small ones", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = seeded(seed);
      // Short enough that no unchanged line is far from a change.
      const text = () => Array.from({ length: Math.floor(random() * 5) }, () => "abc"[Math.floor(random() * 3)] ?? "");
      const before = text();
      const after = text();
      const lines = diffTexts(before.join("\n"), after.join("\n"));
      if (before.join() === after.join()) continue;
      expect(lines.filter((line) => line.kind !== "added").map((line) => line.text)).toEqual(before);
      expect(lines.filter((line) => line.kind !== "removed").map((line) => line.text)).toEqual(after);
      const { added, removed } = countChanges(lines);
      expect(added + removed).toBe(before.length + after.length - 2 * commonLength(before, after));
    }
  });

  it("gives up on texts that share next to nothing", () => {
    const many = (prefix: string) => Array.from({ length: 3_000 }, (_, line) => `${prefix}${line}`).join("\n");
    expect(countChanges(diffTexts(many("a"), many("b")))).toEqual({ added: 3_000, removed: 3_000 });
  });
});

function commonLength(a: string[], b: string[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  if (a[0] === b[0]) return 1 + commonLength(a.slice(1), b.slice(1));
  return Math.max(commonLength(a.slice(1), b), commonLength(a, b.slice(1)));
}

it("a removed line that looks like a header is a removed line", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- gone\n+++ come\n ctx\n\\ No newline at end of file\n--- a/y\n";
  expect(show(readUnified(diff))).toEqual([
    "he --- a/x",
    "he +++ b/x",
    "sk @@ -1,2 +1,2 @@",
    "re -- gone",
    "ad ++ come",
    "sa ctx",
    "sk No newline at end of file",
    "he --- a/y",
  ]);
});
