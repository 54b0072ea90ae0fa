import { render } from "solid-js/web";
import { afterEach, expect, it, vi } from "vitest";
import type { FormContent, PermissionRequest } from "../../api/types";
import { FormCard } from "./FormCard";

let dispose = () => {};
afterEach(() => {
  vi.useRealTimers();
  dispose();
  document.body.replaceChildren();
});

const form = {
  type: "object",
  required: ["name", "size"],
  properties: {
    name: { type: "string", title: "Your name", description: "As it is written", maxLength: 9 },
    mail: { type: "string", format: "email" },
    size: {
      type: "string",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    count: { type: "integer", minimum: 1, default: 2 },
    ratio: { type: "number" },
    sure: { type: "boolean", default: true },
    tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, default: ["b"] },
  },
};

function mount() {
  const answers: [string, FormContent | undefined][] = [];
  const request = {
    request_id: "r",
    tool_call_id: "c",
    session_name: "main",
    title: "Who?",
    options: [],
    form,
  } as unknown as PermissionRequest;
  dispose = render(
    () => (
      <FormCard
        request={request}
        agent="Demo agent"
        onAnswer={async (...answer) => void answers.push([answer[0], answer[1]])}
      />
    ),
    document.body,
  );
  return answers;
}

function field<T extends HTMLElement>(name: string): T {
  const found = document.querySelector<T>(`[name="${name}"]`);
  if (!found) throw new Error(`no field ${name}`);
  return found;
}

it("shows each kind of field with its label and its limits", () => {
  mount();
  expect(field<HTMLInputElement>("name").maxLength).toBe(9);
  expect(field<HTMLInputElement>("name").required).toBe(true);
  expect(field<HTMLInputElement>("mail").type).toBe("email");
  expect(field<HTMLInputElement>("count").value).toBe("2");
  expect(field<HTMLInputElement>("count").min).toBe("1");
  expect(field<HTMLInputElement>("sure").checked).toBe(true);
  expect([...field<HTMLSelectElement>("size").options].map((option) => option.label)).toEqual(["…", "Small", "Large"]);
  const hint = document.getElementById(field("name").getAttribute("aria-describedby") ?? "");
  expect(hint?.textContent).toBe("As it is written");
});

it("sends what was filled in, as the kinds that the form wants", () => {
  const answers = mount();
  field<HTMLInputElement>("name").value = "Ada";
  field<HTMLSelectElement>("size").value = "l";
  field<HTMLInputElement>("ratio").value = "0.5";
  document.querySelector("form")?.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  expect(answers).toEqual([["accept", { name: "Ada", size: "l", count: 2, ratio: 0.5, sure: true, tags: ["b"] }]]);
});

it("can be declined and cancelled without an answer", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance", "requestAnimationFrame", "cancelAnimationFrame"] });
  const answers = mount();
  vi.advanceTimersByTime(520);
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[type=button]")) button.click();
  expect(answers.map(([option]) => option)).toContain("decline");
});
