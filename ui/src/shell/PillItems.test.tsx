// What the permission pill offers, and what the list says of a session that stands still.

import { render } from "solid-js/web";
import { afterEach, expect, it } from "vitest";
import type { Policy, Row } from "../api/types";
import { PillItems } from "./PillItems";
import type { Choices } from "./Pills";
import { RowEnd } from "./SessionRow";

let dispose = () => {};
afterEach(() => {
  dispose();
  document.body.replaceChildren();
});

it("protected files are a choice of their own, and Auto says that they still wait", () => {
  const chosen: (Policy | null)[] = [];
  const choices = {
    policy: null,
    defaultPolicy: "ask",
    setPolicy: (policy: Policy | null) => chosen.push(policy),
  } as unknown as Choices;
  dispose = render(() => <PillItems kinds={["policy"]} choices={choices} close={() => {}} />, document.body);
  const items = [...document.querySelectorAll<HTMLElement>("[role=menuitemradio]")];
  const item = (text: string) => items.find(({ textContent }) => textContent?.startsWith(text));
  expect(item("AutoRuns")?.textContent).toContain("Questions about protected files still wait for you.");
  item("Auto, including protected files")?.click();
  expect(chosen).toEqual(["auto-all"]);
});

it.each([
  [{ waiting: 1, question_protected: true }, "Protected file", true],
  [{ waiting: 0, question_protected: true, running: true }, "", false],
])("%o ends in “%s”", (fields, text, isMarked) => {
  const session = { updated_at: "2026-11-16T11:20:00", waited_ms: 0, running: false, ...fields } as Row;
  dispose = render(() => <RowEnd session={session} now={0} />, document.body);
  const end = document.querySelector(".session-end");
  expect(end?.textContent).toBe(text);
  expect(end?.classList.contains("protected")).toBe(isMarked);
});
