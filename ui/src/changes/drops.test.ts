import { createRoot } from "solid-js";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

let dropped: string[];
let answer: () => Promise<void>;
let dispose = () => {};

beforeEach(() => {
  vi.useFakeTimers();
  sessionStorage.clear();
  dropped = [];
  answer = async () => {};
});

afterEach(() => {
  dispose();
  vi.useRealTimers();
});

/** A review on a page that was just loaded, in the same tab. */
async function load() {
  vi.resetModules();
  const { createDrops } = await import("./drops");
  return createRoot((stop) => {
    dispose = stop;
    return createDrops("s", (id) => {
      dropped.push(id);
      return answer();
    });
  });
}

it("waits while it can be taken back", async () => {
  const drops = await load();
  drops.drop("one", "Comment resolved");
  expect([drops.has("one"), dropped]).toEqual([true, []]);
  vi.advanceTimersByTime(6_000);
  expect(dropped).toEqual(["one"]);
});

it.each([
  ["the page goes", () => dispatchEvent(new Event("pagehide"))],
  ["the review is left", () => dispose()],
  [
    "the page is not seen any more",
    () => {
      vi.spyOn(document, "visibilityState", "get").mockReturnValueOnce("hidden");
      document.dispatchEvent(new Event("visibilitychange"));
    },
  ],
])("is sent at once, and once, when %s", async (_, leave) => {
  const drops = await load();
  drops.drop("one", "Comment resolved");
  leave();
  expect(dropped).toEqual(["one"]);
  vi.advanceTimersByTime(6_000);
  expect(dropped).toEqual(["one"]);
});

it("is sent again after a reload, and not shown, where what the page sent as it went did not arrive", async () => {
  answer = () => new Promise(() => {});
  (await load()).drop("one", "Comment resolved");
  dispatchEvent(new Event("pagehide"));
  answer = async () => {};
  const after = await load();
  expect([after.has("one"), dropped]).toEqual([true, ["one", "one"]]);
  await vi.advanceTimersByTimeAsync(0);
  await load();
  expect(dropped, "and no more").toEqual(["one", "one"]);
});

it("comes back where the server refuses", async () => {
  const drops = await load();
  answer = () => Promise.reject(new Error("no"));
  drops.drop("one", "Comment resolved");
  await vi.advanceTimersByTimeAsync(6_000);
  expect(drops.has("one")).toBe(false);
  await load();
  expect(dropped).toEqual(["one"]);
});
