import { render } from "solid-js/web";
import { afterEach, expect, it } from "vitest";
import type { AgentSession } from "../api/types";
import { linesOf, UsageCard } from "./UsageCard";

let dispose = () => {};
afterEach(() => {
  dispose();
  document.body.replaceChildren();
});

it.each([
  [{ used: 500, size: 2000 }, [["Context", "500 of 2.0k tokens (25 %)"]]],
  [{ used: 45 }, [["Context", "45 tokens"]]],
  [
    { input_tokens: 1_234_567, output_tokens: 0 },
    [
      ["Input tokens", "1,234,567"],
      ["Output tokens", "0"],
    ],
  ],
  [{ cost: { amount: 1.5, currency: "USD" } }, [["Cost so far", "$1.50"]]],
  [{ cost: { amount: "much", currency: "?" } }, []],
  [{}, []],
])("the usage %o comes to %o", (usage, lines) => {
  expect(linesOf(usage)).toEqual(lines);
});

it("several agent sessions are told by their names, and those that count nothing are left out", () => {
  const session = (name: string, usage: object | null) =>
    ({ name, agent: "demo", state: "idle", usage }) as AgentSession;
  const sessions = [session("main", { used: 1 }), session("docs", { used: 2 }), session("quiet", null)];
  dispose = render(() => <UsageCard sessions={sessions} />, document.body);
  expect([...document.querySelectorAll(".usage-name")].map((name) => name.textContent)).toEqual(["main", "docs"]);
});
