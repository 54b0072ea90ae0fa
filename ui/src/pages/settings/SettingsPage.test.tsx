import { render } from "solid-js/web";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Setting } from "../../api/types";
import type { Shell } from "../../shell/shell";
import { SettingsPage } from "./SettingsPage";

const setting = (part: Partial<Setting>): Setting => ({
  key: "agent",
  title: "Agent",
  about: "Works on your tasks unless you choose another.",
  section: "General",
  kind: "text",
  value: "copilot",
  default: null,
  effective: "copilot",
  variable: "VOXPILOT_AGENT",
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
    setting({ key: "title", title: "Project name", value: null, effective: null }),
    setting({
      key: "push_contact",
      title: "Contact",
      section: "Notifications",
      value: "mailto:me@example.com",
      effective: "mailto:me@example.com",
      origin: { kind: "user", name: "~/.config/voxpilot.toml" },
    }),
    setting({
      key: "copilot_connection_ttl",
      title: "Stop idle agents after",
      section: "Agents",
      kind: "number",
      unit: "seconds",
      value: 1800,
      effective: 1800,
      default: 1800,
    }),
    setting({
      key: "permission_policy",
      title: "Policy",
      section: "Permissions",
      kind: "choice",
      choices: ["ask", "auto"],
      value: "ask",
      effective: "ask",
      origin: { kind: "here" },
    }),
    setting({
      key: "disk_quota",
      title: "Storage limit",
      value: "20G",
      effective: "20G",
      origin: { kind: "environment", name: "VOXPILOT_DISK_QUOTA" },
      locked: true,
    }),
    setting({
      key: "bind",
      title: "Address",
      section: "Server",
      value: "127.0.0.1:8790",
      effective: "127.0.0.1:8790",
      origin: { kind: "flag", name: "--bind" },
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
const press = (key: string, name: string) =>
  field(key).dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
const choose = (key: string, value: string) => {
  const select = row(key)?.querySelector("select") as HTMLSelectElement;
  select.value = value;
  select.dispatchEvent(new Event("change", { bubbles: true }));
};
const button = (text: string) =>
  [...document.querySelectorAll("button")].find((one) => one.textContent?.trim() === text) as HTMLButtonElement;
const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });
const source = (key: string) => row(key)?.querySelector(".setting-source")?.textContent;

async function open(): Promise<void> {
  const shell = { agents: { list: () => [] }, server: { info: () => null, refresh() {} } } as unknown as Shell;
  dispose = render(() => <SettingsPage shell={shell} />, document.body);
  await soon(() => expect(row("bind")).not.toBeNull());
}

it("shows what applies and where it comes from", async () => {
  await open();
  expect(source("title")).toBe("Default");
  expect(source("push_contact")).toBe("From your voxpilot.toml");
  expect(source("permission_policy")).toContain("Set here");
  expect(source("disk_quota")).toContain("Set by VOXPILOT_DISK_QUOTA");
  expect(field("disk_quota").disabled).toBe(true);
  expect([field("copilot_connection_ttl").value, row("copilot_connection_ttl")?.textContent]).toEqual([
    "30",
    expect.stringContaining("min"),
  ]);
  expect(row("bind")?.querySelector("input")).toBeNull();
  expect(row("bind")?.textContent).toContain("Set by --bind");
});

it("saves on Enter and on leaving the field, and says so", async () => {
  await open();
  type("title", "parcel");
  press("title", "Enter");
  await soon(() => expect(sent).toEqual([{ title: "parcel" }]));
  await soon(() => expect(document.querySelector(".settings-saved")?.textContent).toContain("Saved"));
  type("copilot_connection_ttl", "5");
  field("copilot_connection_ttl").dispatchEvent(new FocusEvent("blur"));
  await soon(() => expect(sent[1]).toEqual({ copilot_connection_ttl: 300 }));
  button("Reset").click();
  await soon(() => expect(sent[2]).toEqual({ permission_policy: null }));
});

it("keeps what was refused, and leaves other rows as they are", async () => {
  await open();
  refusal = "expected one line";
  const contact = field("push_contact");
  type("push_contact", "half ty");
  type("title", "x".repeat(99));
  press("title", "Enter");
  await soon(() => expect(row("title")?.querySelector("[role=alert]")?.textContent?.toLowerCase()).toContain(refusal));
  expect(field("title").value).toBe("x".repeat(99));
  press("title", "Escape");
  await soon(() => expect(field("title").value).toBe(""));
  expect(field("push_contact")).toBe(contact);
  expect(contact.value).toBe("half ty");
});

it("asks once before everything runs without asking", async () => {
  await open();
  choose("permission_policy", "auto");
  await soon(() => expect(button("Turn on Auto")).toBeDefined());
  button("Cancel").click();
  await soon(() => expect(row("permission_policy")?.querySelector("select")?.value).toBe("ask"));
  expect(sent).toEqual([]);
  choose("permission_policy", "auto");
  await soon(() => expect(button("Turn on Auto")).toBeDefined());
  button("Turn on Auto").click();
  await soon(() => expect(sent).toEqual([{ permission_policy: "auto" }]));
});

it("asks before a reset that leads to Auto, too", async () => {
  settings = settings.map((one) => (one.key === "permission_policy" ? { ...one, default: "auto" } : one));
  await open();
  button("Reset").click();
  await soon(() => expect(button("Turn on Auto")).toBeDefined());
  button("Cancel").click();
  await soon(() => expect(button("Turn on Auto")).toBeUndefined());
  expect(sent).toEqual([]);
  button("Reset").click();
  await soon(() => expect(button("Turn on Auto")).toBeDefined());
  button("Turn on Auto").click();
  await soon(() => expect(sent).toEqual([{ permission_policy: null }]));
});

it("finds settings by other words, and lets them be changed where they are found", async () => {
  await open();
  const search = document.querySelector<HTMLInputElement>("input[type=search]") as HTMLInputElement;
  search.value = "idle time";
  search.dispatchEvent(new InputEvent("input", { bubbles: true }));
  await soon(() => expect(document.querySelector(".settings-count")?.textContent).toContain("1 setting for"));
  expect(row("copilot_connection_ttl")?.textContent).toContain("Also found as: idle timeout");
  type("copilot_connection_ttl", "10");
  press("copilot_connection_ttl", "Enter");
  await soon(() => expect(sent).toEqual([{ copilot_connection_ttl: 600 }]));
});
