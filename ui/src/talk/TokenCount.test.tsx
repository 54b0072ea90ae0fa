import { render } from "solid-js/web";
import { afterEach, expect, it } from "vitest";
import type { Usage } from "../state/flow";
import { ContextMeter } from "./ContextMeter";
import { TokenCount } from "./TokenCount";

const none: Usage = {
  used: null,
  size: null,
  input: null,
  output: null,
  total: null,
  thought: null,
  cachedRead: null,
  cachedWrite: null,
  cost: null,
};
let dispose = () => {};
afterEach(() => dispose());

function shown(usage: Partial<Usage>): string {
  dispose();
  document.body.replaceChildren();
  const whole = { ...none, ...usage };
  dispose = render(
    () => (
      <>
        <ContextMeter usage={whole} />
        <TokenCount usage={whole} />
      </>
    ),
    document.body,
  );
  return document.body.textContent ?? "";
}

it.each<[Partial<Usage>, string]>([
  [{ input: 300, output: 60 }, "300 in · 60 out"],
  [{ input: 1234567, output: 1000, total: 5 }, "1,234,567 in · 1,000 out"],
  [{ output: 0 }, "0 out"],
  [{ total: 12_000 }, "12,000 tokens"],
  [{}, ""],
])("the tokens of %o are told as %s, without a meter of the context", (usage, text) => {
  expect(shown(usage)).toBe(text);
  expect(document.querySelector("meter")).toBeNull();
});

it("the meter stands beside the tokens, and what is rarely asked for in their title", () => {
  expect(shown({ used: 500, size: 2000, input: 3, total: 4, cachedRead: 1000 })).toBe("500 of 2.0k tokens3 in");
  expect(document.querySelector("meter")?.value).toBe(500);
  expect(document.querySelector("[title]")?.getAttribute("title")).toBe("4 tokens in all · 1,000 read from the cache");
});
