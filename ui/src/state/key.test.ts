import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { api } from "../api/client";
import { pagesApi } from "../api/pages";
import { checkKey, forgetKey } from "./key";

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

it("the key of the sign-in is checked, and goes with every call from then on", async () => {
  localStorage.setItem("voxpilot.key", "known");
  const sent = serve([]);
  expect(await settle(checkKey())).toBe("bound");
  expect(sent).toEqual([{ path: "/api/devices/key", key: "known", header: "known" }]);
  await api.devices().catch(() => {});
  expect(sent[1]?.header).toBe("known");
  expect(api.streamUrl("s", 3)).toBe("/api/sessions/s/stream?after=3&key=known");
  expect(api.attachmentUrl("s", "a")).toBe("/api/sessions/s/attachments/a?key=known");
  expect(pagesApi.captureUrl("s")).toContain("?key=known");
});

it("a page without a key makes none: it has to sign in", async () => {
  const sent = serve([]);
  expect(await settle(checkKey())).toBe("refused");
  expect(sent).toEqual([]);
  expect(localStorage.getItem("voxpilot.key")).toBeNull();
});

it("takes the key that another page has stored in the meantime", async () => {
  localStorage.setItem("voxpilot.key", "old");
  const sent = serve([{ status: 409, code: "conflict" }]);
  vi.stubGlobal(
    "fetch",
    swapping(globalThis.fetch, () => localStorage.setItem("voxpilot.key", "new")),
  );
  expect(await settle(checkKey())).toBe("bound");
  expect(sent.map(({ key }) => key)).toEqual(["old", "new"]);
});

it("does not go on asking once the key was removed", async () => {
  localStorage.setItem("voxpilot.key", "old");
  const sent = serve([{ status: 401, code: "key_required" }]);
  vi.stubGlobal(
    "fetch",
    swapping(globalThis.fetch, () => localStorage.removeItem("voxpilot.key")),
  );
  expect(await settle(checkKey())).toBe("refused");
  expect(sent).toHaveLength(1);
});

it("a device that belongs to another page is refused", async () => {
  for (const status of [409, 401, 422]) {
    localStorage.setItem("voxpilot.key", "known");
    serve([{ status, code: "no" }]);
    expect(await settle(checkKey())).toBe("refused");
  }
});

it("a server that does not answer is asked again", async () => {
  localStorage.setItem("voxpilot.key", "known");
  const sent = serve(["nobody", { status: 503 }, { status: 204 }]);
  expect(await settle(checkKey())).toBe("bound");
  expect(sent).toHaveLength(3);
});

/** Answers as `fetched` does, after something else has happened once. */
function swapping(fetched: typeof fetch, once: () => void): typeof fetch {
  let happened = false;
  return async (...asked) => {
    const answer = await fetched(...asked);
    if (!happened) once();
    happened = true;
    return answer;
  };
}
