import { expect, it } from "vitest";
import { complete, completing } from "./completion";

const at = (text: string) => completing(text.replace("|", ""), text.indexOf("|"));

it.each([
  ["look at @src/l|", "path", "src/l"],
  ["@|", "path", ""],
  ["(@REA|DME", "path", "REA"],
  ['see @"with|', "path", "with"],
  ["/com|", "command", "com"],
  ["@docs /|", "command", ""],
])("%s is completed", (text, kind, query) => {
  expect(at(text)).toMatchObject({ kind, query });
});

it.each(["a|", "me@home|", "what /is|", "@done |", "one two|", "/cmd word|"])("%s is not", (text) => {
  expect(at(text)).toBeNull();
});

it("a choice takes the place of what was typed, and the caret stands behind it", () => {
  const put = (text: string, choice: string) => {
    const caret = text.indexOf("|");
    const plain = text.replace("|", "");
    const found = completing(plain, caret);
    if (!found) throw new Error("nothing to complete");
    const done = complete(plain, found, choice);
    return `${done.text.slice(0, done.caret)}|${done.text.slice(done.caret)}`;
  };
  expect(put("look at @sr| now", "src/lib.rs")).toBe("look at @src/lib.rs |now");
  expect(put("@sr|", "src/")).toBe("@src/|");
  expect(put("@wi|", "with space.txt")).toBe('@"with space.txt" |');
  expect(put("/he|", "help")).toBe("/help |");
});
