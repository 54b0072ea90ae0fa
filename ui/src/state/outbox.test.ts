import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError, NetworkError } from "../api/client";
import { createOutbox, first_retry_ms, type Outbox, queueFirst } from "./outbox";

const accepted = { message_id: "m", turn_id: "t", queued: false };
const post = vi.fn();
let outbox: Outbox;

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  post.mockReset().mockResolvedValue(accepted);
});
afterEach(() => {
  outbox.close();
  vi.useRealTimers();
});

const settle = () => vi.advanceTimersByTimeAsync(0);
const states = () => outbox.items.map((item) => item.state);

it("a message that nobody answered is sent again under the same id", async () => {
  post.mockRejectedValueOnce(new NetworkError("gone"));
  outbox = createOutbox("s", post);
  outbox.send("hello");
  await settle();
  expect(states()).toEqual(["offline"]);
  await vi.advanceTimersByTimeAsync(first_retry_ms);
  expect(states()).toEqual(["accepted"]);
  expect(post).toHaveBeenCalledTimes(2);
  expect(post.mock.calls[0]).toEqual(post.mock.calls[1]);
  expect(post.mock.calls[0]?.[2]).toMatch(/^[0-9a-f-]{36}$/);
});

it("messages leave in the order in which they were written", async () => {
  post.mockRejectedValueOnce(new NetworkError("gone"));
  outbox = createOutbox("s", post);
  outbox.send("one");
  outbox.send("two");
  await settle();
  expect(states()).toEqual(["offline", "offline"]);
  await vi.advanceTimersByTimeAsync(first_retry_ms);
  expect(post.mock.calls.map((call) => call[1])).toEqual(["one", "one", "two"]);
});

it("a message that the server refuses waits for a person", async () => {
  post.mockRejectedValueOnce(new ApiError(413, "too_large", "The message is too long."));
  outbox = createOutbox("s", post);
  outbox.send("hello");
  await settle();
  expect(outbox.items[0]).toMatchObject({ state: "refused", error: "The message is too long." });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(post).toHaveBeenCalledTimes(1);
  outbox.retry(outbox.items[0]?.clientId ?? "");
  await settle();
  expect(states()).toEqual(["accepted"]);
});

it("a message that was on its way when the page closed leaves with the next page", async () => {
  post.mockRejectedValue(new NetworkError("gone"));
  outbox = createOutbox("s", post);
  outbox.send("hello");
  await settle();
  outbox.close();
  post.mockResolvedValue(accepted);
  outbox = createOutbox("s", post);
  await settle();
  expect(post.mock.calls.at(-1)).toEqual(post.mock.calls[0]);
  outbox.close();
  post.mockClear();
  outbox = createOutbox("s", post);
  await settle();
  expect(post).not.toHaveBeenCalled();
});

it("the first message of a session is left for it before it is opened", async () => {
  queueFirst("s", "first");
  outbox = createOutbox("s", post);
  await settle();
  expect(post).toHaveBeenCalledWith("s", "first", expect.any(String), []);
});

it.each([
  [507, "disk_full", "the disk is full, so nothing was stored: free some space and try again"],
  [503, "unavailable", "the server is stopping"],
])("a message that the server cannot take now (%i) stays with its sentence and is tried again", async (...why) => {
  post.mockRejectedValueOnce(new ApiError(...why));
  outbox = createOutbox("s", post);
  outbox.send("hello");
  await settle();
  expect(outbox.items[0]).toMatchObject({ state: "postponed", error: why[2] });
  await vi.advanceTimersByTimeAsync(first_retry_ms);
  expect(states()).toEqual(["accepted"]);
  expect(post.mock.calls[0]).toEqual(post.mock.calls[1]);
});

it("when the connection is back, nothing waits for the next attempt", async () => {
  post.mockRejectedValue(new NetworkError("gone"));
  outbox = createOutbox("s", post);
  outbox.send("hello");
  await vi.advanceTimersByTimeAsync(60_000);
  post.mockClear().mockResolvedValue(accepted);
  outbox.hurry();
  await settle();
  expect(states()).toEqual(["accepted"]);
});

it("a message that was withdrawn is neither sent nor found again", async () => {
  post.mockRejectedValue(new NetworkError("gone"));
  outbox = createOutbox("s", post);
  outbox.send("hello");
  await settle();
  outbox.discard(outbox.items[0]?.clientId ?? "");
  post.mockClear();
  await vi.advanceTimersByTimeAsync(60_000);
  outbox.close();
  outbox = createOutbox("s", post);
  await settle();
  expect(post).not.toHaveBeenCalled();
});

it("two pages with the same session keep each other's messages", async () => {
  post.mockRejectedValue(new NetworkError("gone"));
  outbox = createOutbox("s", post);
  const other = createOutbox("s", post);
  outbox.send("one");
  other.send("two");
  outbox.send("three");
  await settle();
  outbox.close();
  other.close();
  outbox = createOutbox("s", post);
  expect(outbox.items.map((item) => item.content)).toEqual(["one", "two", "three"]);
});

it("what goes along goes along with every attempt, over a reload too, and is forgotten when it has arrived", async () => {
  const file = { kind: "file", name: "a.txt", mime_type: "text/plain", data: "YQ==" } as const;
  post.mockRejectedValue(new NetworkError("gone"));
  outbox = createOutbox("s", post);
  outbox.send("hello", [file]);
  await settle();
  outbox.close();
  post.mockReset().mockResolvedValue(accepted);
  outbox = createOutbox("s", post);
  expect(outbox.items[0]?.files).toEqual(["a.txt"]);
  const { clientId } = outbox.items[0] ?? { clientId: "" };
  await vi.advanceTimersByTimeAsync(first_retry_ms);
  expect(post.mock.calls.map((call) => call[3])).toEqual([[file]]);
  expect(await outbox.filesOf(clientId)).toEqual([]);
});
