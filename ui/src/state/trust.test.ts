import { createRoot } from "solid-js";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError, api } from "../api/client";
import type { Trust } from "../api/types";
import { createTrust, type TrustState } from "./trust";

const waiting: Trust = {
  path: "/w/voxpilot.toml",
  state: "waiting",
  hash: "a",
  lines: [{ line: 1, text: 'bind = "0.0.0.0:80"', key: "bind", why: "listens elsewhere" }],
  scripts: [],
  applied: false,
};

let dispose = () => {};
let answer: Trust;
beforeEach(() => {
  vi.useFakeTimers();
  answer = waiting;
  vi.spyOn(api, "trust").mockImplementation(async () => answer);
});
afterEach(() => {
  dispose();
  localStorage.clear();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function create(onRestarted = () => {}): Promise<TrustState> {
  const trust = createRoot((end) => {
    dispose = end;
    return createTrust(onRestarted);
  });
  await vi.advanceTimersByTimeAsync(0);
  return trust;
}

it("asks where the file waits, and no more once it was put off, until it has changed", async () => {
  const trust = await create();
  expect(trust.asks()).toBe(true);
  trust.later();
  expect(trust.asks()).toBe(false);
  dispose();
  const reloaded = await create();
  expect(reloaded.asks()).toBe(false);
  answer = { ...waiting, hash: "b" };
  window.dispatchEvent(new Event("focus"));
  await vi.advanceTimersByTimeAsync(0);
  expect(reloaded.asks()).toBe(true);
});

it("after consent it waits for the server that has taken the file in", async () => {
  const restarted = vi.fn();
  const consent = vi.spyOn(api, "consent").mockResolvedValue();
  const trust = await create(restarted);
  const done = trust.consent();
  await vi.advanceTimersByTimeAsync(1);
  expect(consent).toHaveBeenCalledWith("a");
  expect(trust.restarting()).toBe(true);
  answer = { ...waiting, state: "trusted" };
  await vi.advanceTimersByTimeAsync(2_000);
  expect(trust.restarting()).toBe(true);
  answer = { ...answer, applied: true };
  await vi.advanceTimersByTimeAsync(2_000);
  await done;
  expect(trust.restarting()).toBe(false);
  expect(trust.asks()).toBe(false);
  expect(restarted).toHaveBeenCalledOnce();
});

it("a file that changed under the reader's eyes is shown anew instead of being trusted", async () => {
  const trust = await create();
  vi.spyOn(api, "consent").mockRejectedValue(new ApiError(409, "conflict", "the file has changed"));
  answer = { ...waiting, hash: "b" };
  await expect(trust.consent()).rejects.toThrow("the file has changed");
  expect(trust.file()?.hash).toBe("b");
  expect(trust.restarting()).toBe(false);
});

it("trust that is taken back holds when the server has left the file out", async () => {
  answer = { ...waiting, state: "trusted", applied: true };
  const revoke = vi.spyOn(api, "revokeTrust").mockResolvedValue();
  const trust = await create();
  const done = trust.revoke();
  await vi.advanceTimersByTimeAsync(1);
  expect(revoke).toHaveBeenCalled();
  answer = { ...waiting, applied: false };
  await vi.advanceTimersByTimeAsync(1_000);
  expect(trust.restarting()).toBe(true);
  answer = { ...waiting, applied: true };
  await vi.advanceTimersByTimeAsync(1_000);
  await done;
  expect(trust.asks()).toBe(true);
});
