import { expect, it } from "vitest";
import { pieces, visible } from "./visible";

it.each([
  ["an override that turns a name around", "a\u202egpj.exe", "a⟨U+202E⟩gpj.exe"],
  [
    "every mark, embedding and isolate of direction",
    "\u061c\u200e\u200f\u202a\u202d\u2066\u2069",
    "⟨U+061C⟩⟨U+200E⟩⟨U+200F⟩⟨U+202A⟩⟨U+202D⟩⟨U+2066⟩⟨U+2069⟩",
  ],
  [
    "what has no width",
    "r\u200bm\u2060 \ufeff\u00ad\u034f\u3164\uffa0",
    "r⟨U+200B⟩m⟨U+2060⟩ ⟨U+FEFF⟩⟨U+00AD⟩⟨U+034F⟩⟨U+3164⟩⟨U+FFA0⟩",
  ],
  ["text in tags", "hi\u{e0072}\u{e006d}", "hi⟨U+E0072⟩⟨U+E006D⟩"],
  ["selectors of both kinds", "a\ufe00b\u{e0100}", "a⟨U+FE00⟩b⟨U+E0100⟩"],
  ["escape sequences and other controls", "\u001b[2J\u0000\u0085\u009b", "⟨U+001B⟩[2J⟨U+0000⟩⟨U+0085⟩⟨U+009B⟩"],
  ["separators that look like line feeds", "a\u2028b\u2029c", "a⟨U+2028⟩b⟨U+2029⟩c"],
  ["a return that lets a line be written over", "safe\revil", "safe⟨U+000D⟩evil"],
  ["joiners where nothing is joined", "pass\u200dword \u200d👩", "pass⟨U+200D⟩word ⟨U+200D⟩👩"],
  ["a selector behind a letter", "a\ufe0f", "a⟨U+FE0F⟩"],
])("shows %s", (_, text, shown) => {
  expect(visible(text)).toBe(shown);
});

it.each([
  ["plain words, tabs and lines", "let x = 1;\n\tnaïve 日本 שלום"],
  ["line ends of Windows", "one\r\ntwo\r\n"],
  ["the end of a line that was cut out", "one\r"],
  ["families, flags and skin", "👩‍👩‍👧 🏳️‍🌈 👍🏽 👩🏽‍💻 ❤️"],
  ["keycaps", "1️⃣ #️⃣"],
])("leaves alone %s", (_, text) => {
  expect(visible(text)).toBe(text);
});

it("says which one it is", () => {
  expect(pieces("a\u202eb\u{e0041}\u0003")).toEqual([
    "a",
    { mark: "⟨U+202E⟩", name: "U+202E RIGHT-TO-LEFT OVERRIDE" },
    "b",
    { mark: "⟨U+E0041⟩", name: "U+E0041 TAG CHARACTER" },
    { mark: "⟨U+0003⟩", name: "U+0003 CONTROL CHARACTER" },
  ]);
});

it("a piece of a growing text is judged by what stands before it", () => {
  const text = "👩\u200d👧";
  expect(pieces(text, 2)).toEqual(["\u200d👧"]);
  expect(pieces("a\u200d👧", 1)).toEqual([{ mark: "⟨U+200D⟩", name: "U+200D ZERO WIDTH JOINER" }, "👧"]);
});
