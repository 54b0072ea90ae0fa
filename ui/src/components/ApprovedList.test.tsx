import { render } from "solid-js/web";
import { afterEach, expect, it } from "vitest";
import type { Approval } from "../api/types";
import { ApprovedList } from "./ApprovedList";

let dispose = () => {};
afterEach(() => {
  dispose();
  document.body.replaceChildren();
});

function show(...approvals: Approval[]): string {
  dispose = render(() => <ApprovedList approvals={approvals} />, document.body);
  return document.body.textContent ?? "";
}

it("one approval is one quiet line that names what was allowed, and where", () => {
  expect(show({ title: "Run it", command: "ls\u202e", cwd: "sub", by: "policy" })).toBe(
    "allowed automatically: Run it ls⟨U+202E⟩ in sub",
  );
  expect(document.querySelector("details")).toBeNull();
});

it("what the title says already is not said twice, and a rule is named", () => {
  expect(show({ title: "ls", command: "ls", cwd: ".", by: "rule" })).toBe(
    "allowed automatically: ls (by a remembered answer)",
  );
});

it("many are one line that opens", () => {
  const text = show({ title: "ls", by: "policy" }, { title: "cat", by: "policy" });
  expect(document.querySelector("summary")?.textContent).toBe("allowed automatically: 2 requests");
  expect(text).toContain("cat");
});

it("a file that does not lie in the work directory is pointed out", () => {
  const text = show({ title: "Read", files: [{ path: "/etc/hosts", place: "outside" }], by: "policy" });
  expect(text).toContain("/etc/hosts outside of the work directory");
});
