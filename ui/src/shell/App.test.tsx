import { render } from "solid-js/web";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { forgetKey } from "../state/key";
import { App } from "./App";

type Answer = { status: number; body?: unknown };

const me = {
  id: "d",
  name: "Firefox on Linux",
  kind: "full",
  created_at: "2026-01-01T00:00:00Z",
  last_used_at: "2026-01-01T00:00:00Z",
  expires_at: "2026-02-01T00:00:00Z",
  address: "127.0.0.1",
  current: true,
};
const info = {
  version: "1",
  suggestions: [],
  work_dir_name: "w",
  model: "main",
  agent: "demo",
  permission_policy: "auto",
  relay_policy: "ask",
  policy_chosen: false,
};
const refused = { status: 401, body: { error: { code: "unauthorized", message: "access denied" } } };

let answers: Record<string, Answer>;
const calls: string[] = [];
let dispose = () => {};
beforeEach(() => {
  calls.length = 0;
  localStorage.setItem("voxpilot.key", "known");
  answers = {
    "POST /api/devices/key": { status: 204 },
    "GET /api/devices": { status: 200, body: { devices: [me] } },
    "GET /api/sessions": { status: 200, body: { sessions: [] } },
    "GET /api/agents": { status: 200, body: { agents: [] } },
    "GET /api/server": { status: 200, body: info },
    "GET /api/trust": {
      status: 200,
      body: { path: "w/voxpilot.toml", state: "none", lines: [], scripts: [], applied: true },
    },
    "PATCH /api/server": { status: 204 },
    "POST /api/logout": { status: 204 },
  };
  vi.stubGlobal("fetch", async (request: Request) => {
    const call = `${request.method} ${new URL(request.url).pathname}`;
    calls.push(call);
    const { status, body } = answers[call] ?? { status: 404 };
    return new Response(body ? JSON.stringify(body) : null, { status });
  });
});
afterEach(() => {
  dispose();
  history.replaceState(null, "", "#/");
  window.dispatchEvent(new HashChangeEvent("hashchange"));
  forgetKey();
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

const open = () => {
  dispose = render(() => <App />, document.body);
};
// Pages are loaded when they are shown, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });
const soon = (check: () => void) => vi.waitFor(check, { timeout: 50_000 });
const heading = (text: string) =>
  soon(() => expect([...document.querySelectorAll("h1")].map((one) => one.textContent)).toContain(text));
const button = (name: string) =>
  [...document.querySelectorAll("button")].find((one) => one.textContent?.trim() === name);

it("shows its key before anything else is asked for", async () => {
  open();
  await heading("What should change in w?");
  expect(calls[0]).toBe("POST /api/devices/key");
  expect(calls.slice(0, 2)).toEqual(["POST /api/devices/key", "GET /api/devices"]);
});

it("a browser that is not let in is told so, and nothing is loaded", async () => {
  answers["POST /api/devices/key"] = refused;
  open();
  await heading("This browser isn’t signed in");
  expect(calls).toEqual(["POST /api/devices/key"]);
  expect(document.querySelector("form")?.getAttribute("action")).toBe("/login");
  expect(document.querySelector("input[name=code]")).not.toBeNull();
});

it("whoever signs in again is where they were, once", async () => {
  answers["POST /api/devices/key"] = refused;
  history.replaceState(null, "", "#/agents");
  open();
  await heading("This browser isn’t signed in");
  document.querySelector("form")?.dispatchEvent(new Event("submit"));
  history.replaceState(null, "", "/");
  open();
  expect(location.hash).toBe("#/agents");
  history.replaceState(null, "", "/");
  open();
  expect(location.hash).toBe("");
});

it("a page whose device is revoked leaves with the first answer that says so", async () => {
  open();
  await heading("What should change in w?");
  answers["GET /api/sessions"] = refused;
  document.dispatchEvent(new Event("visibilitychange"));
  await heading("This device was signed out");
});

it("a page without the right key gives up a cookie that would stand in the way of the next link", async () => {
  answers["POST /api/devices/key"] = { status: 401, body: { error: { code: "key_required", message: "no" } } };
  open();
  await heading("Sign in again");
  expect(calls).toContain("POST /api/logout");
});

it("that agents work without asking is a choice that is seen once", async () => {
  open();
  await soon(() => expect(button("Ask me first")).toBeDefined());
  answers["GET /api/server"] = { status: 200, body: { ...info, permission_policy: "ask", policy_chosen: true } };
  button("Ask me first")?.click();
  await soon(() => expect(button("Ask me first")).toBeUndefined());
  expect(calls).toContain("PATCH /api/server");
});

it("the project's own title and suggestions take the place of ours, and a full disk is told", async () => {
  answers["GET /api/server"] = {
    status: 200,
    body: { ...info, title: "Rocket", suggestions: ["Launch\u202e"], disk: { warning: "only 12 MB are left" } },
  };
  open();
  await heading("What should change in Rocket?");
  expect(button("Launch⟨U+202E⟩")).toBeDefined();
  expect(button("Run the tests and fix what fails")).toBeUndefined();
  expect(document.querySelector(".banner.failed")?.textContent).toBe("only 12 MB are left");
});

it("somebody who signs out leaves nothing behind in the browser", async () => {
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function () {
    this.open = false;
  };
  localStorage.setItem("voxpilot.draft.new", "not for everybody");
  localStorage.setItem("somebody.else", "stays");
  open();
  await heading("What should change in w?");
  location.hash = "#/devices";
  await soon(() => expect(button("Sign out this device")).toBeDefined());
  button("Sign out this device")?.click();
  await heading("Signed out");
  expect(Object.keys(localStorage)).toEqual(["somebody.else"]);
  localStorage.clear();
});
