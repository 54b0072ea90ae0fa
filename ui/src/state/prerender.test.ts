import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError, NetworkError } from "../api/client";
import type { Message } from "../api/types";
import { createPrerender, type Prerender, pause_ms } from "./prerender";

const text = { length: 0, rendered: 0 };
const fetch = vi.fn();
let prerender: Prerender;

const answer = (): Message => ({
  id: "m",
  role: "assistant",
  content: "x".repeat(text.length),
  html: "<p>",
  created_at: "",
});

beforeEach(() => {
  vi.useFakeTimers();
  Object.assign(text, { length: 0, rendered: 0 });
  fetch.mockReset().mockImplementation(async () => answer());
  prerender = createPrerender({
    progress: () => text,
    fetch,
    onRendered: (_, __, length) => {
      text.rendered = length;
    },
  });
});
afterEach(() => {
  prerender.close();
  vi.useRealTimers();
});

it("asks a few times a second however fast the text grows, and ends with all of it", async () => {
  for (let step = 0; step < 100; step++) {
    text.length += 1;
    prerender.want("m");
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(fetch.mock.calls.length).toBeLessThanOrEqual(1 + 1_000 / pause_ms);
  await vi.advanceTimersByTimeAsync(pause_ms);
  expect(text.rendered).toBe(100);
});

it("never has two requests under way", async () => {
  const finish: (() => void)[] = [];
  fetch.mockImplementation(() => {
    const message = answer();
    return new Promise((resolve) => finish.push(() => resolve(message)));
  });
  text.length = 1;
  prerender.want("m");
  await vi.advanceTimersByTimeAsync(5 * pause_ms);
  prerender.want("m");
  await vi.advanceTimersByTimeAsync(5 * pause_ms);
  expect(finish.length).toBe(1);
  text.length = 2;
  prerender.want("m");
  finish[0]?.();
  await vi.advanceTimersByTimeAsync(pause_ms);
  expect(finish.length).toBe(2);
});

it("tries again after a lost answer, but not after a refusal", async () => {
  text.length = 1;
  fetch.mockRejectedValueOnce(new NetworkError("gone"));
  prerender.want("m");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(text.rendered).toBe(1);
  text.length = 2;
  fetch.mockReset().mockRejectedValue(new ApiError(404, "not_found", "no"));
  prerender.want("m");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(fetch).toHaveBeenCalledTimes(1);
});
