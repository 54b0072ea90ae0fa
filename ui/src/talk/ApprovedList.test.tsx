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
  dispose = render(() => <ApprovedList scope="c" approvals={approvals} />, document.body);
  return document.body.textContent ?? "";
}

it("one approval is one quiet line that names what was allowed, and where", () => {
  expect(show({ title: "Run it", command: "ls\u202e", cwd: "sub", by: "policy" })).toBe(
    "Allowed automatically: Run it ls⟨U+202E⟩ in sub",
  );
  expect(document.querySelector("details")).toBeNull();
});

it("what the title says already is not said twice, and a rule is named", () => {
  expect(show({ title: "ls", command: "ls", cwd: ".", by: "rule" })).toBe("Allowed by a rule: ls");
});

it("many are one line that opens", () => {
  const text = show({ title: "ls", by: "policy" }, { title: "cat", by: "policy" });
  expect(document.querySelector("summary")?.textContent).toBe("Allowed automatically: 2 requests");
  expect(text).not.toContain("cat");
  const fold = document.querySelector("details") as HTMLDetailsElement;
  fold.open = true;
  fold.dispatchEvent(new Event("toggle"));
  expect(document.body.textContent).toContain("cat");
});

it("a file that does not lie in the work directory is pointed out", () => {
  const text = show({ title: "Read", files: [{ path: "/etc/hosts", place: "outside" }], by: "policy" });
  expect(text).toContain("/etc/hosts outside the work directory");
});
