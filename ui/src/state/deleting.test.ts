import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { api } from "../api/client";

let deleted: string[];
let answer: () => Promise<void>;

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  sessionStorage.clear();
  deleted = [];
  answer = () => Promise.resolve();
});

afterEach(() => void vi.useRealTimers());

/** A page as it is just after it was loaded, in the same tab. */
async function load() {
  vi.resetModules();
  const client = await import("../api/client");
  vi.spyOn(client.api, "deleteSession").mockImplementation((id) => {
    deleted.push(id);
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
