import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, api, NetworkError, onBack, onSignedOut, setPageKey } from "./client";
import { pagesApi } from "./pages";

const asked: Request[] = [];
let reply: () => Promise<Response>;
const json = (status: number, body: unknown) => async () => new Response(JSON.stringify(body), { status });
const refusal = { error: { code: "not_found", message: "Session not found." } };

beforeEach(() => {
  asked.length = 0;
  vi.stubGlobal("fetch", (request: Request) => {
    asked.push(request);
    return reply();
  });
});
afterEach(() => {
  setPageKey(null);
  vi.unstubAllGlobals();
});

describe("what is asked", () => {
  it("names are escaped in the path and in the query", async () => {
    reply = json(200, { files: [] });
    await api.files("a/b", "x & y");
    expect(asked[0]?.url).toBe(`${location.origin}/api/sessions/a%2Fb/files?query=x%20%26%20y`);
  });

  it("the page's key goes along, in a header or in an address", async () => {
    reply = json(200, {});
    setPageKey("k/1");
    await api.server();
    expect(asked[0]?.headers.get("x-voxpilot-key")).toBe("k/1");
    expect(api.streamUrl("s", 7)).toBe("/api/sessions/s/stream?after=7&key=k%2F1");
    setPageKey(null);
    expect(api.streamUrl("s", null)).toBe("/api/sessions/s/stream");
  });

  it("a body is JSON", async () => {
    reply = json(202, { message_id: "m" });
    await api.send("s", "hello", "c");
    expect(await asked[0]?.json()).toEqual({ content: "hello", client_id: "c" });
    expect(asked[0]?.headers.get("content-type")).toBe("application/json");
  });
});

describe("what comes back", () => {
  it("an answer without a body is none", async () => {
    reply = async () => new Response(null, { status: 204 });
    expect(await api.deleteSession("s", false)).toBeUndefined();
  });

  it("a refusal has the server's words", async () => {
    reply = json(404, refusal);
    await expect(api.session("s")).rejects.toEqual(new ApiError(404, "not_found", refusal.error.message));
  });

  it("whoever is no longer let in is told so", async () => {
    const report = vi.fn();
    onSignedOut(report);
    reply = json(401, { error: { code: "key_required", message: "no" } });
    await expect(api.server()).rejects.toBeInstanceOf(ApiError);
    expect(report).toHaveBeenCalledWith("key_required");
    onSignedOut(() => {});
  });

  it.each([502, 503, 504])("a %d of a proxy is no answer, one of the server's own is", async (status) => {
    reply = async () => new Response("<html>", { status });
    await expect(api.server()).rejects.toBeInstanceOf(NetworkError);
    reply = json(status, refusal);
    await expect(api.server()).rejects.toBeInstanceOf(ApiError);
  });

  it("tells of the first answer after a time without any", async () => {
    const back = vi.fn();
    const stop = onBack(back);
    reply = () => Promise.reject(new TypeError("failed to fetch"));
    await expect(api.server()).rejects.toBeInstanceOf(NetworkError);
    expect(back).not.toHaveBeenCalled();
    reply = json(200, {});
    await api.server();
    await api.server();
    expect(back).toHaveBeenCalledTimes(1);
    stop();
  });

  it("a text that grows is given in pieces", async () => {
    reply = async () => new Response("open the link\n");
    const heard: string[] = [];
    await pagesApi.login("copilot", (text) => heard.push(text), new AbortController().signal);
    expect(heard.join("")).toBe("open the link\n");
    expect(asked[0]?.url).toBe(`${location.origin}/api/agents/copilot/login`);
  });
});
