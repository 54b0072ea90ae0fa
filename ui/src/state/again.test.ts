import { afterEach, expect, it, vi } from "vitest";
import type { Attachment } from "../api/types";
import { fetchAgain } from "./again";

afterEach(() => vi.unstubAllGlobals());

const sent: Attachment[] = [
  { id: "1", kind: "image", name: "dot.png", mime_type: "image/png", size: 3 },
  { id: "2", kind: "path", name: "src/lib.rs", mime_type: "", size: 1 },
  { id: "3", kind: "path", name: "notes", mime_type: "", size: 1 },
];

it("what went along with a message goes along with it again, and what its words mention is left to them", async () => {
  const get = vi.fn(async () => new Response("abc"));
  vi.stubGlobal("fetch", get);
  expect(await fetchAgain("s", "look at @src/lib.rs", sent)).toEqual([
    { kind: "image", name: "dot.png", mime_type: "image/png", data: btoa("abc") },
    { kind: "path", path: "notes" },
  ]);
  expect(get.mock.calls).toEqual([["/api/sessions/s/attachments/1"]]);
});

it("what is gone is said by its name", async () => {
  vi.stubGlobal("fetch", async () => new Response("", { status: 404 }));
  await expect(fetchAgain("s", "", sent)).rejects.toThrow("dot.png");
});
