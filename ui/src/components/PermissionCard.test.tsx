import { render } from "solid-js/web";
import { afterEach, expect, it, vi } from "vitest";
import { ApiError } from "../api/client";
import type { PermissionAnswer, PermissionRequest } from "../api/types";
import { PermissionCard } from "./PermissionCard";

let dispose = () => {};
afterEach(() => {
  dispose();
  document.body.replaceChildren();
});

const request: PermissionRequest = {
  request_id: "r",
  tool_call_id: "c",
  session_name: "main",
  asked_at: "2026-01-01T00:00:00Z",
  title: "Run it",
  kind: "execute",
  command: "echo '  two  blanks '\nls",
  locations: [{ path: "/w/a.txt", line: 3 }],
  options: [
    { option_id: "always", name: "Always allow", kind: "allow_always" },
    { option_id: "once", name: "Allow once", kind: "allow_once" },
    { option_id: "no", name: "Deny", kind: "reject_once" },
  ],
};

function mount(onChoose = vi.fn(async (_: PermissionAnswer) => {})) {
  dispose = render(() => <PermissionCard request={request} onChoose={onChoose} />, document.body);
  const button = (name: string) => [...document.querySelectorAll("button")].find((found) => found.textContent === name);
  return { onChoose, button };
}

it("shows the exact command, the kind, the places, and the options in the agent's words and order", () => {
  mount();
  expect(document.querySelector("code.command")?.textContent).toBe(request.command);
  expect(document.querySelector(".badge")?.textContent).toBe("execute");
  expect(document.querySelector(".locations")?.textContent).toBe("/w/a.txt:3");
  expect([...document.querySelectorAll("button")].map((button) => button.textContent)).toEqual([
    "Always allow",
    "Allow once",
    "Deny",
  ]);
});

it("an answer for always says how far it reaches, one for once does not", () => {
  const { onChoose, button } = mount();
  button("Allow once")?.click();
  expect(onChoose).toHaveBeenLastCalledWith({ option_id: "once" });
  const scope = document.querySelector("select");
  expect(document.querySelector(".card-scope")?.textContent).toContain("exactly this command");
  if (scope) scope.value = "project";
  scope?.dispatchEvent(new Event("change", { bubbles: true }));
  return vi
    .waitFor(() => expect(button("Always allow")?.disabled).toBe(false))
    .then(() => {
      button("Always allow")?.click();
      expect(onChoose).toHaveBeenLastCalledWith({ option_id: "always", remember: "project" });
    });
});

it("says why an answer was not taken, and can be answered again", async () => {
  const { button } = mount(vi.fn(() => Promise.reject(new ApiError(409, "conflict", "already answered"))));
  button("Deny")?.click();
  expect(button("Deny")?.disabled).toBe(true);
  await vi.waitFor(() => expect(document.querySelector("[role=alert]")?.textContent).toBe("already answered"));
  expect(button("Deny")?.disabled).toBe(false);
});
