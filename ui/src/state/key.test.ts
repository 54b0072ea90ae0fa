import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { api } from "../api/client";
import { pagesApi } from "../api/pages";
import { bindKey, forgetKey } from "./key";

type Answer = { status: number; code?: string } | "nobody";

/** A server that answers the binding calls in turn, and remembers what it was sent. */
function serve(answers: Answer[]) {
  const sent: { path: string; key: string | undefined; header: string | null }[] = [];
  const fetched = vi.fn(async (request: Request) => {
    const body = request.body ? await request.clone().json() : {};
    const path = new URL(request.url).pathname;
    sent.push({ path, key: body.key, header: request.headers.get("x-voxpilot-key") });
    const answer = answers.shift() ?? { status: 204 };
    if (answer === "nobody") throw new TypeError("no network");
    const text = answer.code ? JSON.stringify({ error: { code: answer.code, message: "no" } }) : null;
    return new Response(text, { status: answer.status });
  });
  vi.stubGlobal("fetch", fetched);
  return sent;
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  forgetKey();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function settle<T>(run: Promise<T>): Promise<T> {
  await vi.runAllTimersAsync();
  return await run;
}

it("a new page makes a key of 32 bytes, keeps it, binds it, and sends it with every call from then on", async () => {
  const sent = serve([]);
  expect(await settle(bindKey())).toBe("bound");
  const key = localStorage.getItem("voxpilot.key");
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(sent).toEqual([{ path: "/api/devices/key", key, header: key }]);
  await api.devices().catch(() => {});
  expect(sent[1]?.header).toBe(key);
  expect(api.streamUrl("s", 3)).toBe(`/api/sessions/s/stream?after=3&key=${key}`);
  expect(api.attachmentUrl("s", "a")).toBe(`/api/sessions/s/attachments/a?key=${key}`);
  expect(pagesApi.captureUrl("s")).toContain(`?key=${key}`);
});

it("a page that is loaded again has the same key", async () => {
  localStorage.setItem("voxpilot.key", "known");
  const sent = serve([]);
  expect(await settle(bindKey())).toBe("bound");
  expect(sent[0]?.key).toBe("known");
});

it("of two pages that made a key at once, the later one takes the key that the server took", async () => {
  localStorage.setItem("voxpilot.key", "late");
  const sent = serve([{ status: 409, code: "key_bound" }]);
  const bound = bindKey();
  await vi.advanceTimersByTimeAsync(0);
  localStorage.setItem("voxpilot.key", "first");
  expect(await settle(bound)).toBe("bound");
  expect(sent.map(({ key }) => key)).toEqual(["late", "first"]);
});

it("a device that belongs to another page stays shut", async () => {
  serve(Array.from({ length: 9 }, () => ({ status: 409, code: "key_bound" })));
  expect(await settle(bindKey())).toBe("refused");
  serve([{ status: 401, code: "unauthorized" }]);
  expect(await settle(bindKey())).toBe("refused");
});

it("what is stored and is no key is replaced", async () => {
  localStorage.setItem("voxpilot.key", "damaged");
  const sent = serve([{ status: 422, code: "invalid" }]);
  expect(await settle(bindKey())).toBe("bound");
  expect(sent[1]?.key).toMatch(/^[\w-]{43}$/);
});

it("a server that does not answer is asked again", async () => {
  const sent = serve(["nobody", { status: 503 }, { status: 204 }]);
  expect(await settle(bindKey())).toBe("bound");
  expect(sent).toHaveLength(3);
});
