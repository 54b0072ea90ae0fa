import { expect, test } from "vitest";
import { obstacle } from "./push";

const able = { secure: true, worker: true, push: true, apple: false, installed: false };

test("a browser that can have notifications has no obstacle", () => {
  expect(obstacle(able)).toBeNull();
  expect(obstacle({ ...able, apple: true, installed: true })).toBeNull();
});

test("what is in the way is told apart", () => {
  expect(obstacle({ ...able, secure: false, push: false })).toBe("insecure");
  expect(obstacle({ ...able, push: false, apple: true })).toBe("install");
  expect(obstacle({ ...able, push: false, apple: true, installed: true })).toBe("unsupported");
  expect(obstacle({ ...able, worker: false })).toBe("unsupported");
});
