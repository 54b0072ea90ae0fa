import { render } from "solid-js/web";
import { afterEach, expect, it, vi } from "vitest";
import { ApiError } from "../api/client";
import type { PermissionAnswer, PermissionRequest } from "../api/types";
import { setDevice } from "../state/device";
import { PermissionCard } from "./PermissionCard";

let dispose = () => {};
afterEach(() => {
  setDevice(null);
  dispose();
  document.body.replaceChildren();
});

const device = {
  id: "d",
  name: "Firefox on Linux",
  created_at: "2026-01-01T00:00:00Z",
  last_used_at: "2026-01-01T00:00:00Z",
  expires_at: "2026-02-01T00:00:00Z",
  address: "127.0.0.1",
  current: true,
};

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

function mount(onChoose = vi.fn(async (_: PermissionAnswer) => {}), asked = request) {
  dispose = render(() => <PermissionCard request={asked} agent="Codex" onChoose={onChoose} />, document.body);
  const button = (name: string) => [...document.querySelectorAll("button")].find((found) => found.textContent === name);
  return { onChoose, button };
}

it("shows the exact command, the kind, the places, and the options in the agent's words and order", () => {
  mount();
  expect(document.querySelector(".card-meta")?.textContent).toContain("🤖 Codex [main] asks for permission");
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

const show = (change: Partial<PermissionRequest>) => mount(undefined, { ...request, ...change });
const text = (selector: string) => document.querySelector(selector)?.textContent;

it("names the directory, also in what always covers", () => {
  show({ cwd: "tools/build" });
  expect(text(".card-place")).toBe("in tools/build");
  expect(text(".card-scope")).toContain("exactly this command in tools/build");
  dispose();
  show({ cwd: "." });
  expect(text(".card-place")).toBe("in the work directory");
  dispose();
  show({ cwd: null });
  expect(text(".card-place")).toBe("in a directory that the agent does not name");
});

it("names the environment of a command", () => {
  show({ input: { command: "ls", env: { PATH: "/evil\u202e" } } });
  expect(text("[aria-label=Environment]")).toBe("PATH=/evil⟨U+202E⟩");
});

it("files come with where they lie, and not with what the agent says of them", () => {
  show({
    kind: "edit",
    command: null,
    files: [
      { path: "src/a.rs", place: "inside" },
      { path: "/etc/passwd", place: "outside" },
    ],
  });
  expect([...document.querySelectorAll(".locations li")].map((row) => row.textContent)).toEqual([
    "src/a.rs",
    "/etc/passwd outside of the work directory",
  ]);
  expect(text(".card-scope")).toContain("exactly this request");
});

it("a protected file is never allowed for always", () => {
  const { button } = show({ kind: "edit", command: null, files: [{ path: ".git/config", place: "protected" }] });
  expect(button("Always allow")).toBeUndefined();
  expect(button("Allow once")).toBeDefined();
  expect(text(".locations")).toBe(".git/config protected");
  expect(document.querySelector("select")).toBeNull();
});

it("nothing of a request is hidden, from nobody", () => {
  const rlo = "\u202e";
  show({
    title: `Read a${rlo}b`,
    command: `rm -rf ~ #${rlo}`,
    cwd: `sub${rlo}`,
    files: [{ path: `x${rlo}y`, place: "inside" }],
    diff: `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b${rlo}\n`,
    options: [{ option_id: "once", name: `Allow${rlo}`, kind: "allow_once" }],
  });
  expect(document.body.textContent).not.toContain(rlo);
  expect(document.querySelector("article")?.getAttribute("aria-label")).not.toContain(rlo);
  for (const place of ["h2", ".command", ".card-place", ".locations", ".diff-line.added", "button"]) {
    const mark = document.querySelector(`${place} .hidden-char`);
    expect(mark?.textContent, place).toBe("⟨U+202E⟩");
    expect(mark?.getAttribute("title"), place).toBe("U+202E RIGHT-TO-LEFT OVERRIDE");
    expect(mark?.getAttribute("aria-label"), place).toContain("RIGHT-TO-LEFT OVERRIDE");
  }
});

it("a device that can only watch sees everything and answers nothing", () => {
  setDevice({ ...device, kind: "read-only" });
  const { button } = mount();
  expect(text("code.command")).toBe(request.command);
  expect(button("Allow once")?.disabled).toBe(true);
  expect(button("Deny")?.disabled).toBe(true);
  expect(document.body.textContent).toContain("This device can only watch.");
});
