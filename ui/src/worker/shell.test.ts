import { expect, test } from "vitest";
import { assetsOf } from "./shell";

test("the files that a page asks for are found, each once", () => {
  const html = `<link rel="stylesheet" href="/assets/index-a_1.css"><link rel="manifest" href="/manifest.webmanifest">
    <script type="module" src="/assets/index-b-2.js"></script><script src="/assets/index-b-2.js"></script>
    <script src="https://elsewhere.example/assets/x.js"></script>`;
  expect(assetsOf(html)).toEqual(["/assets/index-a_1.css", "/assets/index-b-2.js"]);
});
