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
  about: "trying things out",
  found: "built_in",
  version: "0.1.0",
  abilities: [
    { id: "loads", title: "Loads a session", value: "yes", source: "probe" },
    { id: "images", title: "Takes images", value: "no", source: "agent" },
  ],
});
const gemini = makeAgent("gemini", {
  title: "Gemini CLI",
  installed: false,
  health: "missing",
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
const item = (index: number) => document.querySelectorAll<HTMLElement>("li.agent-row")[index]?.textContent ?? "";

it("each agent says what it is good at, where it comes from and how it stands", () => {
  open();
  expect(item(0)).toContain("Demo agent default");
  expect(item(0)).toContain("trying things out");
  expect(item(0)).toContain("0.1.0 · built in");
  expect(item(0)).toContain("Ready");
  expect(item(1)).toContain("Not installed");
  expect(item(1)).toContain("After a restart: Not known yet");
  expect(button("New session with Gemini CLI"), "it cannot be used as it is").toBeUndefined();
});

it("what each can do is a table with a heading for every row and column, in words", () => {
  open();
  const cells = [...document.querySelectorAll("table tr")].map((row) =>
    [...row.children].map((cell) => [cell.getAttribute("scope") ?? "", cell.textContent?.trim()].join(":")),
  );
  expect(cells).toEqual([
    [":", "col:Demo agent", "col:Gemini CLI"],
    ["row:Loads a session", ":yes tried", ":unknown"],
    ["row:Takes images", ":no it says so", ":unknown"],
  ]);
});

it("a missing agent says how it is installed, and is downloaded only when somebody agrees to it", async () => {
  const allow = vi
    .spyOn(pagesApi, "allowNpx")
    .mockResolvedValue({ ...gemini, installed: true, found: "npx", health: "unknown" });
  const { put } = open();
  expect(item(1)).toContain("npm install -g gemini");
  expect(button("Copy npm install -g gemini")).toBeDefined();
  button("Use Gemini CLI through npx")?.click();
  expect(allow).not.toHaveBeenCalled();
  expect(item(1)).toContain("Let npx download this agent’s package from npm and run it");
  button("Not now")?.click();
  button("Use Gemini CLI through npx")?.click();
  button("Download and use it")?.click();
  await vi.waitFor(() => expect(put).toHaveBeenCalled());
  expect(allow).toHaveBeenLastCalledWith("gemini", true);
  expect(item(1)).toContain("through npx");
  expect(button("New session with Gemini CLI")).toBeDefined();
  allow.mockResolvedValue(gemini);
  button("No longer use Gemini CLI through npx")?.click();
  await vi.waitFor(() => expect(allow).toHaveBeenLastCalledWith("gemini", false));
  await vi.waitFor(() => expect(button("Use Gemini CLI through npx"), "it asks again").toBeDefined());
});

it("one that is not logged in names the command of its login", () => {
  open([{ ...demo, health: "login_required", logged_in: false, can_login: true, login: { command: "demo login" } }]);
  expect(item(0)).toContain("Signed out");
  expect(item(0)).toContain("demo login");
  expect(button("Sign in to Demo agent")).toBeDefined();
});

it("one whose login cannot be run from here only says how it is done", () => {
  open([{ ...demo, health: "login_required", logged_in: false, can_login: false, login: { command: "demo" } }]);
  expect(button("Sign in to Demo agent")).toBeUndefined();
  expect(item(0)).toContain("Sign in on the server’s machine: demo");
});

it("a session is begun with the agent that was pressed, and what goes wrong is told there", async () => {
  const { onStart } = open();
  onStart.mockRejectedValue(new Error("it is not possible"));
  button("New session with Demo agent")?.click();
  await vi.waitFor(() => expect(item(0)).toContain("it is not possible"));
});
