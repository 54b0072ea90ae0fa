import { expect, it } from "vitest";
import { readOutcome, readPieces } from "./loginText";

it("addresses and codes are found in what a login prints", () => {
  const output = "Open https://github.com/login/device. Then type AB12-CD34 (or see https://x.example/a?b=1).\n";
  expect(readPieces(output).filter((piece) => piece.type !== "text")).toEqual([
    { type: "link", text: "https://github.com/login/device" },
    { type: "code", text: "AB12-CD34" },
    { type: "link", text: "https://x.example/a?b=1" },
  ]);
  expect(
    readPieces(output)
      .map((piece) => piece.text)
      .join(""),
  ).toBe(output);
});

it("only a web address becomes a link", () => {
  expect(readPieces("javascript:alert(1) file:///etc/passwd")).toEqual([
    { type: "text", text: "javascript:alert(1) file:///etc/passwd" },
  ]);
});

it("the last line says how it ended", () => {
  expect(readOutcome("hello\n\nlogin finished\n")).toBe("finished");
  expect(readOutcome("login finished\n\nlogin failed\n")).toBe("failed");
  expect(readOutcome("login fin")).toBeNull();
});
