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

it("says what there is and what is left, and begins what one presses", () => {
  const [onPhone, onTask] = [vi.fn(), vi.fn()];
  dispose = render(
    () => (
      <FirstRun
        project={{ name: "parcel", branch: "main" }}
        agent={makeAgent("copilot", { title: "Copilot", version: "1.0" })}
        model="relay"
        devices={1}
        task="Explain this project"
        onPhone={onPhone}
        onTask={onTask}
      />
    ),
    document.body,
  );
  expect(rows()).toEqual([
    "DoneThe server runs in parcel, branch main",
    "DoneCopilot is ready1.0",
    "To doChoose a main AIWithout one you talk straight to Copilot. That works too.Choose",
    "To doAdd your phoneAnswer questions from anywhere on your network.Show code",
    "To doGive it a first task“Explain this project”Start",
  ]);
  const press = (name: string) =>
    [...document.querySelectorAll("button")].find((one) => one.textContent === name)?.click();
  press("Show code");
  press("Start");
  expect(onPhone).toHaveBeenCalledOnce();
  expect(onTask).toHaveBeenCalledExactlyOnceWith("Explain this project");
});

it("an agent that cannot work yet says so, and where that is mended", () => {
  dispose = render(
    () => (
      <FirstRun
        project={undefined}
        agent={makeAgent("codex", { title: "Codex", health: "login_required", logged_in: false })}
        model="gpt"
        devices={2}
        task={undefined}
        onPhone={() => {}}
        onTask={() => {}}
      />
    ),
    document.body,
  );
  expect(rows()[1]).toBe("To doCodex · signed outIt does the work.Set up");
  expect(document.querySelector("a")?.getAttribute("href")).toBe("#/agents");
  expect(rows().slice(2), "what is done says so").toEqual([
    "DoneA main AI is chosengpt",
    "DoneAnother device is let inAnswer questions from anywhere on your network.",
  ]);
});
