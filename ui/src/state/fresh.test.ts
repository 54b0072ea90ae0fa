import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { api, NetworkError } from "../api/client";
import { beginSession, dropSession, freshSessions, isFresh, makeSession } from "./fresh";
import { createOutbox } from "./outbox";

beforeEach(() => localStorage.clear());
afterEach(() => {
  for (const { id } of freshSessions()) dropSession(id);
});

it("is asked for under the same id until it is made, and keeps its first message", async () => {
  const create = vi.spyOn(api, "createSession").mockRejectedValueOnce(new NetworkError("away"));
  create.mockResolvedValue({} as never);
  const id = beginSession({ agent: "demo" }, "Do it\nnow", []);
  expect(isFresh(id)).toBe(true);
  expect(freshSessions()[0]?.title).toBe("Do it");
  await expect(makeSession(id)).rejects.toThrow("away");
  expect(isFresh(id)).toBe(true);
  await makeSession(id);
  await makeSession(id);
  expect(create.mock.calls).toEqual([[{ agent: "demo", id }], [{ agent: "demo", id }]]);
  expect(isFresh(id)).toBe(false);

  const post = vi.fn(() => new Promise<never>(() => {}));
  const outbox = createOutbox(id, post);
  expect(outbox.items.map(({ content }) => content)).toEqual(["Do it\nnow"]);
  outbox.close();
});
