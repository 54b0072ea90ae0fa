import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { api } from "../api/client";

let deleted: string[];
let answer: () => Promise<Awaited<ReturnType<typeof api.deleteSession>>>;

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  sessionStorage.clear();
  localStorage.clear();
  deleted = [];
  answer = () => Promise.resolve(undefined);
});

afterEach(() => void vi.useRealTimers());

/** A page as it is just after it was loaded, in the same tab. */
async function load() {
  vi.resetModules();
  const client = await import("../api/client");
  vi.spyOn(client.api, "deleteSession").mockImplementation((id, withRecords) => {
    deleted.push(withRecords ? `${id} and its records` : id);
    return answer() as ReturnType<typeof api.deleteSession>;
  });
  return { ...(await import("./deleting")), ...(await import("./doomed")) };
}

it("goes on after a reload with what nobody has taken back, though the word of the page that went was lost", async () => {
  const before = await load();
  before.deleteLater("one", vi.fn(), vi.fn());
  const after = await load();
  expect(after.isDoomed("one"), "not seen again").toBe(true);
  const onDeleted = vi.fn();
  after.finishDeleting(onDeleted);
  await vi.waitFor(() => expect(onDeleted).toHaveBeenCalledExactlyOnceWith("one"));
  expect(deleted).toEqual(["one"]);
  const last = await load();
  last.finishDeleting(onDeleted);
  expect(deleted, "once").toEqual(["one"]);
});

it("does with the agent's own record what was said, also where another answer is chosen meanwhile", async () => {
  const page = await load();
  const { chooseRecords } = await import("./records");
  chooseRecords("delete");
  page.deleteLater("one", vi.fn(), vi.fn());
  chooseRecords("ask");
  vi.advanceTimersByTime(6_000);
  expect(deleted).toEqual(["one and its records"]);
});

it("leaves alone what was taken back", async () => {
  const before = await load();
  before.deleteLater("one", vi.fn(), vi.fn());
  const { Toasts } = await import("../kit/toasts");
  const { render } = await import("solid-js/web");
  const root = document.body.appendChild(document.createElement("div"));
  const dispose = render(() => Toasts(), root);
  root.querySelector("button")?.click();
  dispose();
  root.remove();
  const after = await load();
  expect(after.isDoomed("one")).toBe(false);
  after.finishDeleting(vi.fn());
  expect(deleted).toEqual([]);
});

it.each([
  ["is content with a session that is gone already", 404, 1],
  ["gives back one that stays", 500, 0],
])("%s", async (_, status, times) => {
  sessionStorage.setItem("voxpilot.deleting", "one");
  const page = await load();
  const { ApiError } = await import("../api/client");
  answer = () => Promise.reject(new ApiError(status, "code", "words"));
  const onDeleted = vi.fn();
  page.finishDeleting(onDeleted);
  await vi.waitFor(() => expect(page.isDoomed("one")).toBe(false));
  expect(sessionStorage.getItem("voxpilot.deleting")).toBeNull();
  expect(onDeleted).toHaveBeenCalledTimes(times);
});

it("names what an agent still keeps, and the session is gone all the same", async () => {
  sessionStorage.setItem("voxpilot.deleting", "one");
  localStorage.setItem("voxpilot.agent-records", "delete");
  const page = await load();
  answer = () => Promise.resolve({ kept_records: [{ agent: "Copilot", reason: "Copilot: it is in use" }] });
  const toasts = await import("../kit/toasts");
  const { render } = await import("solid-js/web");
  const root = document.body.appendChild(document.createElement("div"));
  const dispose = render(() => toasts.Toasts(), root);
  const onDeleted = vi.fn();
  page.finishDeleting(onDeleted);
  await vi.waitFor(() => expect(onDeleted).toHaveBeenCalledExactlyOnceWith("one"));
  expect(deleted).toEqual(["one and its records"]);
  expect(root.textContent).toContain("The agent still has its own record. Copilot: it is in use");
  dispose();
  root.remove();
});
