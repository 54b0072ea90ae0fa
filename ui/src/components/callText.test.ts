import { expect, it } from "vitest";
import type { AgentToolCall } from "../api/types";
import { readChange } from "./callText";

const change = { type: "diff" as const, path: "/w/a.txt", old_text: "line2", new_text: "LINE TWO" };
const call: AgentToolCall = { id: "c", content: [change], input: { path: "/w/a.txt", old_str: "line2" } };

it("a change that is only a part of the file says so until the whole is known", () => {
  expect(readChange(call, change).isPart).toBe(true);
  const detailedContent =
    "\ndiff --git a/w/a.txt b/w/a.txt\nindex 0000000..0000000 100644\n--- a/w/a.txt\n+++ b/w/a.txt\n@@ -1,3 +1,3 @@\n line1\n-line2\n+LINE TWO\n line3\n";
  expect(readChange({ ...call, output: { detailedContent } }, change)).toEqual({
    isPart: false,
    lines: [
      { kind: "skipped", text: "@@ -1,3 +1,3 @@" },
      { kind: "same", text: "line1" },
      { kind: "removed", text: "line2" },
      { kind: "added", text: "LINE TWO" },
      { kind: "same", text: "line3" },
    ],
  });
});

it("two whole texts are compared", () => {
  const whole = { ...change, old_text: null, new_text: "new\n" };
  const created: AgentToolCall = { id: "c", content: [whole], input: { path: "/w/a.txt", file_text: "new\n" } };
  expect(readChange(created, whole)).toEqual({ isPart: false, lines: [{ kind: "added", text: "new" }] });
});
