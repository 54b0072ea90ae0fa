// How an agent's tool call is shown.

import { render } from "solid-js/web";
import { afterEach, expect, it } from "vitest";
import { AgentCall } from "./AgentCall";

let dispose = () => {};
afterEach(() => {
  dispose();
  document.body.replaceChildren();
});

it("a call that was not allowed says so, and does not look as if it had failed or still ran", () => {
  const call = { id: "c", title: "rm -rf /", kind: "execute", status: "rejected" };
  dispose = render(() => <AgentCall call={call} />, document.body);
  const shown = document.body.textContent ?? "";
  expect(shown).toContain("not allowed");
  expect(shown).not.toContain("failed");
  expect(document.querySelector(".spinner")).toBeNull();
});
