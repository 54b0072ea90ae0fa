import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { insist, page } from "./later";

const unreachable = () => Promise.reject(new TypeError("Failed to fetch"));
const answers = () => Promise.resolve(new Response());

beforeEach(() => {
  vi.useFakeTimers();
  sessionStorage.clear();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("asks again for what could not be fetched, until it is there", async () => {
  vi.stubGlobal("fetch", unreachable);
  const load = vi.fn<() => Promise<string>>();
  for (let tries = 0; tries < 4; tries += 1) load.mockImplementationOnce(unreachable);
  load.mockResolvedValue("part");
  const loaded = insist(load);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await loaded).toBe("part");
  expect(load).toHaveBeenCalledTimes(5);
});

it("does not ask again for what came and is broken", async () => {
  const load = vi.fn(() => Promise.reject(new SyntaxError("broken")));
  await expect(insist(load)).rejects.toThrow("broken");
  expect(load).toHaveBeenCalledTimes(1);
});

it("opens the page anew where the server is back and the browser still remembers the failure", async () => {
  const reload = vi.spyOn(page, "reload").mockImplementation(() => {});
  const request = vi.fn(unreachable);
  vi.stubGlobal("fetch", request);
  void insist(unreachable);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(reload).not.toHaveBeenCalled();
  request.mockImplementation(answers as never);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(reload).toHaveBeenCalledTimes(1);
});

it("leaves the page alone while nobody waits for the part", async () => {
  const reload = vi.spyOn(page, "reload").mockImplementation(() => {});
  vi.stubGlobal("fetch", answers);
  void insist(unreachable, () => false);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reload).not.toHaveBeenCalled();
});
