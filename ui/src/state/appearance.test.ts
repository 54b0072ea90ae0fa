import { afterEach, expect, it } from "vitest";
import { appearance, applyAppearance, choose } from "./appearance";
import { readStored, store } from "./storage";

const root = document.documentElement;
afterEach(() => {
  for (const name of ["theme", "text", "motion"]) store(name, "");
  applyAppearance();
});

it("applies what was chosen, and keeps it for the next visit", () => {
  choose("theme", "dark");
  choose("text", "17");
  expect({ ...root.dataset }).toMatchObject({ theme: "dark", text: "17" });
  expect(readStored("theme")).toBe("dark");
  choose("theme", "system");
  expect(root.dataset.theme).toBeUndefined();
  expect(readStored("theme")).toBeNull();
  expect(appearance().text).toBe("17");
});

it("ignores a stored value that it doesn't know", () => {
  store("theme", "sepia");
  applyAppearance();
  expect(appearance().theme).toBe("system");
  expect(root.dataset.theme).toBeUndefined();
});
