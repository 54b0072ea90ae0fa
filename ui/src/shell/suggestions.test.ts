import { expect, it } from "vitest";
import type { Agent, ServerInfo } from "../api/types";
import { suggestionsFor } from "./suggestions";

const info = (fields: Partial<ServerInfo> = {}) => ({ suggestions: [], ...fields }) as unknown as ServerInfo;
const agent = (id: string) => ({ id }) as Agent;
const texts = (...args: Parameters<typeof suggestionsFor>) => suggestionsFor(...args).map(({ text }) => text);

it("the demo agent is offered nothing that it cannot do", () => {
  const changes = { files: 3, additions: 1, deletions: 1 };
  expect(texts(agent("demo"), info(), true, changes).join()).not.toMatch(/tests|Review/);
  expect(texts(agent("demo"), info({ suggestions: ["Count down"] }), true, null)).toEqual(["Count down"]);
});

it("whoever can work is offered the work at hand", () => {
  expect(texts(agent("copilot"), info(), true, { files: 3, additions: 64, deletions: 60 })).toEqual([
    "Review my 3 uncommitted files",
    "Run the tests and fix what fails",
  ]);
  expect(texts(agent("copilot"), info(), true, { files: 0, additions: 0, deletions: 0 })).toEqual([
    "Run the tests and fix what fails",
  ]);
  expect(texts(undefined, null, false, null)).toEqual([]);
});
