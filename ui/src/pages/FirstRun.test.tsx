import { render } from "solid-js/web";
import { afterEach, expect, it, vi } from "vitest";
import { makeAgent } from "../state/testing/agent";
import { FirstRun } from "./FirstRun";

let dispose = () => {};
afterEach(() => {
  dispose();
  document.body.replaceChildren();
});

const rows = () => [...document.querySelectorAll("li")].map((row) => row.textContent);
const links = () => [...document.querySelectorAll("a")].map((link) => link.getAttribute("href"));

it("shows what is done and what is left, and starts the task", () => {
  const start = vi.fn();
  dispose = render(
    () => (
      <FirstRun
        agent={makeAgent("copilot", { title: "Copilot", version: "1.0" })}
        model="relay"
        devices={1}
        task={{ text: "Explain this project", start }}
        onAdded={() => {}}
      />
    ),
    document.body,
  );
  expect(rows()).toEqual([
    "DoneCopilot is ready1.0",
    "To doAdd a main AIOptional. Without one you talk to Copilot directly.Add…",
    "To doAdd your phoneAnswer questions when you’re away from the desk.Add…",
    "To doGive it a first task“Explain this project”Start",
  ]);
  expect(links()).toEqual(["#/settings/main-ai"]);
  const press = (name: string) =>
    [...document.querySelectorAll("button")].find((one) => one.textContent === name)?.click();
  press("Start");
  expect(start).toHaveBeenCalledOnce();
});

it("an agent that cannot work yet links to its own row", () => {
  dispose = render(
    () => (
      <FirstRun
        agent={makeAgent("codex", { title: "Codex", health: "login_required", logged_in: false })}
        model="gpt"
        devices={2}
        task={{ text: "Count to 50", with: "Demo agent", start: () => {} }}
        onAdded={() => {}}
      />
    ),
    document.body,
  );
  expect(rows()).toEqual([
    "To doCodex · signed outIt does the work.Set up",
    "DoneMain AI is setgpt",
    "DoneAnother device is signed inAnswer questions when you’re away from the desk.",
    "To doGive it a first task“Count to 50” with Demo agentStart",
  ]);
  expect(links()).toEqual(["#/agents/codex"]);
});

it("the demo agent alone is not an agent that is set up", () => {
  dispose = render(
    () => (
      <FirstRun
        agent={makeAgent("demo", { title: "Demo agent" })}
        model="relay"
        devices={1}
        task={undefined}
        onAdded={() => {}}
      />
    ),
    document.body,
  );
  expect(rows()[0]).toContain("To doSet up an agentOnly the demo agent is here.");
  expect(links()[0]).toBe("#/agents");
});
