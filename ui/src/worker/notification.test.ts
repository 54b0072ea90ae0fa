import { expect, test } from "vitest";
import { isSeen, keptIn, notAnswered, readPushed, refusal, show } from "./notification";

const asked = {
  kind: "needs-you",
  session_id: "s1",
  title: "Mend the tests",
  text: "Run cargo test",
  request_id: "r1",
  options: [
    { option_id: "yes", name: "Allow once", kind: "allow_once" },
    { option_id: "no", name: "Reject", kind: "reject_once" },
  ],
};

test("a question becomes a notification with its answers", () => {
  const pushed = readPushed(asked);
  if (!pushed) throw new Error("it is read");
  const { title, options } = show(pushed, 2);
  expect(title).toBe("Mend the tests");
  expect(options.body).toBe("Needs you: Run cargo test");
  expect(options.tag).toBe("session:s1");
  expect(options.actions).toEqual([
    { action: "allow_once", title: "Allow" },
    { action: "reject_once", title: "Deny" },
  ]);
  expect(keptIn(options.data)).toEqual({
    session_id: "s1",
    request_id: "r1",
    answers: { allow_once: "yes", reject_once: "no" },
  });
});

test("where a system has no room for both answers, or there is only one, the session is opened instead", () => {
  for (const [data, room] of [
    [asked, 1],
    [{ ...asked, options: asked.options.slice(0, 1) }, 2],
    [{ ...asked, request_id: undefined }, 2],
  ] as const) {
    const pushed = readPushed(data);
    if (!pushed) throw new Error("it is read");
    const { options } = show(pushed, room);
    expect(options.actions).toBeUndefined();
    expect(options.data.answers).toEqual({});
  }
});

test("what is none of the server’s words shows nothing", () => {
  for (const data of [null, "text", 1, {}, { kind: "advert", title: "Buy" }]) expect(readPushed(data)).toBeNull();
  const odd = readPushed({ kind: "done", title: 7, options: [null, { option_id: 1 }], session_id: "" });
  expect(odd).toEqual({ kind: "done", session_id: null, title: "VoxPilot", text: "", request_id: null, options: [] });
});

test("whoever has the session in front of them is not called", () => {
  const pushed = readPushed(asked);
  if (!pushed) throw new Error("it is read");
  expect(isSeen(pushed, ["s2", "s1"])).toBe(true);
  expect(isSeen(pushed, ["s2", null])).toBe(false);
  expect(isSeen(pushed, [])).toBe(false);
  expect(isSeen({ ...pushed, session_id: null }, [null])).toBe(false);
});

test("an answer that did not get there says why, and can be given in the session", () => {
  expect(refusal(202, "")).toBeNull();
  expect(refusal(401, "")).toContain("signed out");
  expect(refusal(409, "{}")).toContain("already answered");
  expect(refusal(403, '{"error":{"message":"this device may only watch"}}')).toBe("this device may only watch.");
  expect(refusal(500, "<html>")).toBe("the server answered 500.");
  const { options } = notAnswered("Mend", keptIn({ session_id: "s1", request_id: "r1", answers: { a: "b" } }), "no.");
  expect(options.body).toContain("Not answered: no.");
  expect(options.data.answers).toEqual({});
});
