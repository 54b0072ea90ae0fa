import { expect, test } from "vitest";
import type { Setting } from "../api/types";
import { lockText, originText, shownValue, typedValue } from "./settingText";

const setting: Setting = {
  key: "bind",
  title: "Address",
  about: "Where the server listens.",
  group: "Access",
  kind: "text",
  value: "127.0.0.1:8000",
  default: "127.0.0.1:8000",
  origin: { kind: "flag", name: "--bind" },
  locked: true,
  changeable: false,
  restart: false,
};

test("what is held elsewhere says by what", () => {
  expect([originText(setting), lockText(setting)]).toEqual(["flag", "set by the flag --bind"]);
  const variable: Setting = { ...setting, origin: { kind: "environment", name: "VOXPILOT_BIND" } };
  expect(lockText(variable)).toBe("set by the variable VOXPILOT_BIND");
  const fixed: Setting = { ...setting, locked: false, origin: { kind: "default" } };
  expect(lockText(fixed)).toContain("voxpilot.toml");
  expect(lockText({ ...fixed, changeable: true, origin: { kind: "here" } })).toBeNull();
});

test("a secret is never shown, and what is not set says so", () => {
  expect(shownValue({ ...setting, kind: "secret", value: "***" })).toBe("set, and not shown");
  expect(shownValue({ ...setting, value: null })).toBe("not set");
  expect(shownValue({ ...setting, kind: "list", value: ["a", "b"] })).toBe("a\nb");
});

test("what is typed becomes what the server wants, and nothing takes it back", () => {
  expect(typedValue(setting, "  ")).toBeNull();
  expect(typedValue({ ...setting, kind: "number" }, " 30 ")).toBe(30);
  expect(typedValue({ ...setting, kind: "number" }, "soon")).toBe("soon");
  expect(typedValue({ ...setting, kind: "list" }, "a\n\n b ")).toEqual(["a", "b"]);
});
