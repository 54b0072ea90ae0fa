import { expect, it, vi } from "vitest";
import { insist } from "./later";

it("asks again for what could not be fetched, until it is there", async () => {
  vi.useFakeTimers();
  const load = vi.fn<() => Promise<string>>();
  load.mockRejectedValueOnce(new TypeError("Failed to fetch")).mockRejectedValueOnce(new TypeError("Failed to fetch"));
  load.mockResolvedValue("part");
  const loaded = insist(load);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await loaded).toBe("part");
  expect(load).toHaveBeenCalledTimes(3);
  vi.useRealTimers();
});

it("does not ask again for what came and is broken", async () => {
  const load = vi.fn(() => Promise.reject(new SyntaxError("broken")));
  await expect(insist(load)).rejects.toThrow("broken");
  expect(load).toHaveBeenCalledTimes(1);
});
