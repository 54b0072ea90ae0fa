import { expect, it } from "vitest";
import { addOutput, newOutput } from "./output";
import { wholeText } from "./text";

it("pieces are laid by their offset, and what is known is cut off or left out", () => {
  const output = newOutput(0);
  addOutput(output, 0, "ä𝄞");
  addOutput(output, 3, "b");
  addOutput(output, 1, "𝄞bc");
  addOutput(output, 0, "ä𝄞");
  expect(wholeText(output.text)).toBe("ä𝄞bc");
  expect(output.length).toBe(5);
});

it("what comes behind a hole is shown, and what would fill the hole later is not put behind it", () => {
  const output = newOutput(0);
  addOutput(output, 0, "one ");
  addOutput(output, 8, "three");
  addOutput(output, 4, "two ");
  expect(wholeText(output.text)).toBe("one three");
  expect(output.length).toBe(13);
});

it("only the end of a long output is kept, below a note, and the offsets count on", () => {
  const note = "… (the beginning was cut)\n";
  const output = newOutput(0);
  const versions = new Set<number>();
  for (let number = 0; number < 3000; number++) {
    addOutput(output, output.length, `${"é".repeat(40)}${number}\n`);
    expect(new TextEncoder().encode(wholeText(output.text)).length).toBe(output.bytes);
    expect(output.bytes).toBeLessThanOrEqual(64 * 1024);
    versions.add(output.text.version);
  }
  const kept = wholeText(output.text);
  expect(kept.startsWith(note) && kept.endsWith("2999\n")).toBe(true);
  expect(kept.split(note)).toHaveLength(2);
  expect(kept).not.toContain("\ufffd");
  expect(output.length).toBeGreaterThan(120_000);
  expect(versions.size, "a text that was cut is drawn anew").toBeGreaterThan(3);
});
