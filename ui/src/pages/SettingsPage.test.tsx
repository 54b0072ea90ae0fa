import { render } from "solid-js/web";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Setting } from "../api/types";
import { SettingsPage } from "./SettingsPage";

const setting = (part: Partial<Setting>): Setting => ({
  key: "agent",
  title: "Agent",
  about: "Who works in a new session.",
  group: "Sessions",
  kind: "text",
  value: "copilot",
  default: "copilot",
  origin: { kind: "default" },
  locked: false,
  changeable: true,
  restart: false,
  ...part,
});

let settings: Setting[];
let refusal: string | null;
const sent: unknown[] = [];
let dispose = () => {};
beforeEach(() => {
  sent.length = 0;
  refusal = null;
  settings = [
    setting({}),
    setting({
      key: "model",
      title: "Model",
      value: "gpt-4.1",
      origin: { kind: "user", name: "~/.config/voxpilot.toml" },
    }),
    setting({
      key: "permission_policy",
      title: "Permissions",
      kind: "choice",
      choices: ["ask", "auto"],
      value: "ask",
      origin: { kind: "here" },
    }),
    setting({
      key: "bind",
      title: "Address",
      group: "Server",
      value: "127.0.0.1:8790",
      origin: { kind: "environment", name: "VOXPILOT_BIND" },
      locked: true,
      changeable: false,
    }),
  ];
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url).pathname;
    if (request.method === "PATCH" && path === "/api/settings") {
      sent.push(await request.json());
      return refusal === null
        ? new Response(null, { status: 204 })
        : Response.json({ error: { code: "invalid", message: refusal } }, { status: 422 });
    }
    return path === "/api/settings" ? Response.json({ settings }) : new Response(null, { status: 404 });
  });
});
afterEach(() => {
  dispose();
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

const row = (key: string) => document.querySelector<HTMLElement>(`[data-key="${key}"]`);
const field = (key: string) => row(key)?.querySelector<HTMLInputElement>("input.field") as HTMLInputElement;
const type = (key: string, text: string) => {
  field(key).value = text;
  field(key).dispatchEvent(new InputEvent("input", { bubbles: true }));
};
const save = (key: string) => row(key)?.querySelector("form")?.requestSubmit();
const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

async function open(): Promise<void> {
  dispose = render(() => <SettingsPage onMenu={() => {}} onChanged={() => {}} />, document.body);
  await soon(() => expect(row("bind")).not.toBeNull());
}

it("every setting says what it is, where that came from, and who holds it", async () => {
  await open();
  const origins = [...document.querySelectorAll(".setting-origin")].map((one) => one.textContent?.trim());
  expect(origins).toEqual(["default", "user file", "changed here", "environment"]);
  expect(field("model").value).toBe("gpt-4.1");
  expect(row("bind")?.querySelector("input")).toBeNull();
  expect(row("bind")?.textContent).toContain("127.0.0.1:8790");
  expect(row("bind")?.textContent).toContain("set by the variable VOXPILOT_BIND");
});

it("what is chosen goes to the server, and what is taken back too", async () => {
  await open();
  const auto = [...(row("permission_policy")?.querySelectorAll("button") ?? [])].find(
    (one) => one.textContent === "Auto",
  );
  auto?.click();
  await soon(() => expect(sent).toEqual([{ permission_policy: "auto" }]));
  row("permission_policy")?.querySelector<HTMLElement>(".setting-origin button")?.click();
  await soon(() => expect(sent[1]).toEqual({ permission_policy: null }));
});

it("an agent that does not exist is refused in the server's words, and what was typed stays to be mended", async () => {
  await open();
  refusal = "there is no agent `copilott`; those there are: copilot, codex";
  type("agent", "copilott");
  save("agent");
  await soon(() => expect(row("agent")?.querySelector("[role=alert]")?.textContent).toBe(refusal));
  expect(sent).toEqual([{ agent: "copilott" }]);
  expect(field("agent").value).toBe("copilott");

  refusal = null;
  settings[0] = setting({ value: "codex", origin: { kind: "here" } });
  const model = field("model");
  type("model", "half ty");
  type("agent", "codex");
  save("agent");
  await soon(() => expect(row("agent")?.textContent).toContain("changed here"));
  expect(row("agent")?.querySelector("[role=alert]")).toBeNull();
  expect(field("model"), "another row stays as it is").toBe(model);
  expect(model.value).toBe("half ty");
});
