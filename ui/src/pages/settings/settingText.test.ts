import { expect, test } from "vitest";
import type { Setting } from "../../api/types";
import { numberText, shownValue, sourceText, typedLines, typedNumber, unitText } from "./settingText";

const setting: Setting = {
  key: "bind",
  title: "Address",
  about: "Where the server listens.",
  section: "Server",
  kind: "text",
  value: "127.0.0.1:8000",
  default: "127.0.0.1:8000",
  effective: "127.0.0.1:8000",
  variable: "VOXPILOT_BIND",
  origin: { kind: "flag", name: "--bind" },
  locked: true,
  changeable: false,
  restart: false,
};
const timeout: Setting = {
  ...setting,
  key: "permission_timeout",
  kind: "number",
  unit: "seconds",
  default: null,
  effective: 1800,
};

test("names what a value comes from", () => {
  expect(sourceText(setting)).toBe("Set by --bind");
  expect(sourceText({ ...setting, origin: { kind: "environment", name: "VOXPILOT_BIND" } })).toBe(
    "Set by VOXPILOT_BIND",
  );
  expect(sourceText({ ...setting, origin: { kind: "here" } })).toBe("Set here. Default: 127.0.0.1:8000");
  expect(sourceText({ ...setting, default: null, origin: { kind: "here" } })).toBe("Set here");
  expect(sourceText({ ...timeout, origin: { kind: "here" } })).toBe("Set here. Default: no limit");
});

test("never shows a secret, and names what is not set", () => {
  expect(shownValue({ ...setting, kind: "secret", effective: "***" })).toBe("Set, never shown");
  expect(shownValue({ ...setting, effective: null })).toBe("Not set");
  expect(shownValue({ ...timeout, effective: null })).toBe("No limit");
  expect(shownValue({ ...setting, kind: "list", effective: ["a", "b"] })).toBe("a\nb");
});

test("shows seconds as minutes where that is a round figure, and takes them back so", () => {
  expect([numberText(timeout, 1800), unitText(timeout, 1800)]).toEqual(["30", "min"]);
  expect([numberText(timeout, 90), unitText(timeout, 90)]).toEqual(["1.5", "min"]);
  expect([numberText(timeout, 45), unitText(timeout, 45)]).toEqual(["45", "s"]);
  expect([typedNumber(timeout, " 5 "), typedNumber(timeout, "0,5")]).toEqual([300, 30]);
  expect(typedNumber({ ...timeout, effective: 45 }, "20")).toBe(20);
  expect([typedNumber(timeout, "soon"), typedNumber(timeout, ""), typedNumber(timeout, "-1")]).toEqual([
    null,
    null,
    null,
  ]);
});

test("takes a list line by line, and an empty one as nothing", () => {
  expect(typedLines("a\n\n b ")).toEqual(["a", "b"]);
  expect(typedLines(" \n")).toBeNull();
});
