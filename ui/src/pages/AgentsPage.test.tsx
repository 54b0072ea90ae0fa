import { createSignal } from "solid-js";
import { render } from "solid-js/web";
import { afterEach, expect, it, vi } from "vitest";
import { pagesApi } from "../api/pages";
import type { Agent } from "../api/types";
import { setDevice } from "../state/device";
import { makeAgent } from "../state/testing/agent";
import { AgentsPage } from "./AgentsPage";

const demo = makeAgent("demo", {
  title: "Demo agent",
  found: "built_in",
  version: "0.1.0",
  abilities: [
    { id: "loads", title: "Loads a session", value: "yes", source: "probe" },
    { id: "images", title: "Takes images", value: "no", source: "agent" },
    { id: "login", title: "Has a login", value: "yes", source: "known" },
  ],
});
const gemini = makeAgent("gemini", {
  title: "Gemini CLI",
  installed: false,
  health: "missing",
  about: "long contexts",
  install: { command: "npm install -g gemini", npx: true },
  abilities: [{ id: "loads", title: "Loads a session", value: "unknown" }],
});

let dispose = () => {};
afterEach(() => {
  dispose();
  setDevice(null);
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

function open(agents: Agent[] = [demo, gemini]) {
  const [list, setList] = createSignal(agents);
  const put = vi.fn((changed: Agent) => setList(list().map((one) => (one.id === changed.id ? changed : one))));
  const onStart = vi.fn(async () => {});
  dispose = render(
    () => (
      <AgentsPage
        agents={{ list, preferred: () => "demo", refresh: async () => {}, put }}
        onMenu={() => {}}
        onStart={onStart}
      />
    ),
    document.body,
  );
  return { put, onStart };
}
const button = (name: string) =>
  [...document.querySelectorAll("button")].find((one) => (one.ariaLabel ?? one.textContent?.trim()) === name);
const here = (index: number) => document.querySelectorAll<HTMLElement>("li.agent-row")[index]?.textContent ?? "";
const missing = (index: number) =>
  document.querySelectorAll<HTMLElement>("li.agent-more-row")[index]?.textContent ?? "";

it("those that are here come first, those that are not are a line and a button each", () => {
  open([gemini, demo]);
  expect(here(0)).toContain("Demo agent default");
  expect(here(0)).toContain("0.1.0 · built in");
  expect(here(0)).toContain("Ready");
  expect(here(1)).toBe("");
  expect(missing(0)).toBe("Gemini CLIlong contextsInstall");
  expect(missing(1)).toContain("Another agent");
  expect(button("New session with Gemini CLI"), "it cannot be used as it is").toBeUndefined();
});

it("what it can do is behind a disclosure, and only what was tried or reported", () => {
  open();
  const facts = [...document.querySelectorAll(".abilities li")].map((row) =>
    [row.className, ...[...row.querySelectorAll("span")].map((cell) => cell.textContent)].join(":"),
  );
  expect(facts).toEqual(["yes:Loads a session:tested", "no:Takes images:reported by agent"]);
  expect(document.querySelector("details.abilities summary")?.textContent).toContain("1 of 2 · not tested");
});

it("a test shows its step, its count and a way out, and says why it did not finish", async () => {
  const chore = { kind: "test", step: "", done: 0, of: 0, since: new Date().toISOString() };
  const running = { ...demo, chore: { ...chore, step: "asks before it acts", done: 2, of: 7 } };
  const begin = vi.spyOn(pagesApi, "testAgent").mockResolvedValue(running);
  const stop = vi.spyOn(pagesApi, "stopChore").mockResolvedValue({ ...demo, chore: { ...chore, problem: "it ended" } });
  open();
  button("Test")?.click();
  await vi.waitFor(() => expect(here(0)).toContain("Testing: asks before it acts 3 of 7"));
  expect(begin).toHaveBeenCalledExactlyOnceWith("demo");
  button("Stop testing Demo agent")?.click();
  await vi.waitFor(() => expect(here(0)).toContain("The test did not finish: it ended"));
  expect(stop).toHaveBeenCalledExactlyOnceWith("demo");
});

it("one is installed only when its exact command was agreed to", async () => {
  const chore = { kind: "install", step: "added 1 package", done: 0, of: 0, since: new Date().toISOString() };
  const install = vi.spyOn(pagesApi, "installAgent").mockResolvedValue({ ...gemini, chore });
  const { put } = open();
  button("Install: Gemini CLI")?.click();
  await vi.waitFor(() => expect(document.querySelector("dialog")?.textContent).toContain("npm install -g gemini"));
  expect(install).not.toHaveBeenCalled();
  button("Install")?.click();
  await vi.waitFor(() => expect(missing(0)).toContain("Installing · added 1 package"));
  expect(install).toHaveBeenCalledExactlyOnceWith("gemini");
  put({ ...gemini, chore: { ...chore, problem: "npm is missing" } });
  expect(missing(0)).toContain("Not installed: npm is missing");
  expect(button("Try again: Gemini CLI")).toBeDefined();
});

it("npx is used only when somebody agrees to it", async () => {
  const used = { ...gemini, installed: true, found: "npx", health: "unknown" };
  const allow = vi.spyOn(pagesApi, "allowNpx").mockResolvedValue(used);
  open();
  button("Install: Gemini CLI")?.click();
  await vi.waitFor(() => expect(button("Run with npx")).toBeDefined());
  expect(allow).not.toHaveBeenCalled();
  button("Run with npx")?.click();
  await vi.waitFor(() => expect(here(1)).toContain("with npx"));
  expect(allow).toHaveBeenLastCalledWith("gemini", true);
  expect(button("New session with Gemini CLI")).toBeDefined();
});

it("one that is not logged in names the command of its login", () => {
  open([{ ...demo, health: "login_required", logged_in: false, can_login: true, login: { command: "demo login" } }]);
  expect(here(0)).toContain("Signed out");
  expect(here(0)).toContain("demo login");
  expect(button("Sign in to Demo agent")).toBeDefined();
});

it("one whose login cannot be run from here only says how it is done", () => {
  open([{ ...demo, health: "login_required", logged_in: false, can_login: false, login: { command: "demo" } }]);
  expect(button("Sign in to Demo agent")).toBeUndefined();
  expect(here(0)).toContain("Sign in on the server’s machine: demo");
});

it("a session is begun with the agent that was pressed, and what goes wrong is told there", async () => {
  const { onStart } = open();
  onStart.mockRejectedValue(new Error("it is not possible"));
  button("New session with Demo agent")?.click();
  await vi.waitFor(() => expect(here(0)).toContain("it is not possible"));
});
