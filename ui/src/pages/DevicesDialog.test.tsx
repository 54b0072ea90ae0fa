import { render } from "solid-js/web";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { api } from "../api/client";
import { pagesApi } from "../api/pages";
import type { Device, DeviceLink, Reach } from "../api/types";
import { setDevice } from "../state/device";
import type { TrustState } from "../state/trust";
import { DevicesDialog } from "./DevicesDialog";

const now = "2026-01-01T12:00:00Z";
const own: Device = {
  id: "own",
  name: "Firefox on Linux",
  kind: "full",
  created_at: now,
  last_used_at: now,
  expires_at: "2026-02-01T00:00:00Z",
  address: "127.0.0.1",
  current: true,
};
const phone: Device = { ...own, id: "phone", name: "Chrome on Android", kind: "read-only", current: false };
const link: DeviceLink = {
  url: "https://host.lan:8000/login?link=secret",
  code: "ABCD-2345",
  qr_svg: '<svg xmlns="http://www.w3.org/2000/svg"/>',
  kind: "full",
  expires_at: "2026-01-01T12:10:00Z",
  fingerprint: "AA:BB",
};
const url = "https://host.lan:8000";
const local: Reach = {
  listens: "127.0.0.1:8000",
  port: 8000,
  local_only: true,
  addresses: [],
  network: { candidates: [{ address: "192.168.1.20", private: true }] },
  tailscale: { state: "missing" },
  command: "voxpilot serve",
};
const open_network: Reach = {
  ...local,
  addresses: [{ url, kind: "network", fingerprint: "AA:BB" }],
  network: { ...local.network, url },
};
const trust: TrustState = {
  file: () => null,
  asks: () => false,
  restarting: () => false,
  later() {},
  consent: async () => {},
  revoke: async () => {},
};

let dispose = () => {};
let devices: Device[];
let reach: Reach;
beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse(now) });
  devices = [own, phone];
  reach = open_network;
  vi.spyOn(pagesApi, "reach").mockImplementation(async () => reach);
  vi.spyOn(pagesApi, "checkReach").mockResolvedValue({ answers: true });
  vi.spyOn(api, "devices").mockImplementation(async () => ({ devices: structuredClone(devices) }));
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function () {
    this.open = false;
  };
});
afterEach(() => {
  dispose();
  setDevice(null);
  document.body.replaceChildren();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function open() {
  const onLeave = vi.fn();
  dispose = render(() => <DevicesDialog trust={trust} onLeave={onLeave} onClose={() => {}} />, document.body);
  await vi.advanceTimersByTimeAsync(0);
  return onLeave;
}
const button = (name: string) =>
  [...document.querySelectorAll("button")].find(
    (found) => (found.getAttribute("aria-label") ?? found.textContent?.trim()) === name,
  );
const rows = () =>
  [...document.querySelectorAll(".device")].map((row) => row.querySelector(".device-name")?.textContent);
const settle = () => vi.advanceTimersByTimeAsync(0);

it("lists who is let in: name, kind, last use, address, and which one this is", async () => {
  await open();
  const [mine, other] = [...document.querySelectorAll(".device")].map((row) => row.textContent);
  expect(mine).toContain("Firefox on Linux");
  expect(mine).toContain("this device");
  expect(mine).toContain("used just now, from 127.0.0.1");
  expect(other).toContain("watch only");
  expect(button("Revoke Firefox on Linux"), "one signs oneself out instead").toBeUndefined();
});

it("a device is shut out only when somebody says so twice", async () => {
  const revoke = vi.spyOn(pagesApi, "revokeDevice").mockResolvedValue();
  await open();
  button("Revoke Chrome on Android")?.click();
  button("Keep")?.click();
  expect(revoke).not.toHaveBeenCalled();
  button("Revoke Chrome on Android")?.click();
  // The list is read again meanwhile, and the question stays.
  await vi.advanceTimersByTimeAsync(5_000);
  button("Revoke")?.click();
  await settle();
  expect(revoke).toHaveBeenCalledWith("phone");
  expect(rows()).toEqual(["Firefox on Linux"]);
});

it("a new device gets a picture, a link and a code, and is announced when it comes", async () => {
  const make = vi.spyOn(pagesApi, "makeLink").mockResolvedValue(link);
  await open();
  button("Add a device")?.click();
  await settle();
  document.querySelector<HTMLInputElement>("input[value=read-only]")?.click();
  button("Make a link")?.click();
  await settle();
  expect(make).toHaveBeenCalledWith("read-only", url);
  const panel = document.querySelector(".add-device");
  expect(panel?.querySelector("img")?.getAttribute("src")).toBe(
    `data:image/svg+xml,${encodeURIComponent(link.qr_svg)}`,
  );
  expect(panel?.textContent).toContain(link.url);
  expect(panel?.querySelector(".pairing-code")?.textContent).toBe("ABCD-2345");
  expect(panel?.textContent).toContain("AA:BB");
  expect(panel?.textContent).toContain("Single use, expires in 10:00.");
  await vi.advanceTimersByTimeAsync(61_000);
  expect(panel?.textContent).toContain("8:59");
  devices = [...devices, { ...phone, id: "new", name: "Safari on iPhone" }];
  await vi.advanceTimersByTimeAsync(3_000);
  expect(panel?.querySelector("[role=status]")?.textContent).toContain("“Safari on iPhone” is signed in.");
});

it("a link that has run out says so and can be made anew", async () => {
  const make = vi.spyOn(pagesApi, "makeLink").mockResolvedValue(link);
  await open();
  button("Add a device")?.click();
  await settle();
  button("Make a link")?.click();
  await settle();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(document.querySelector(".add-device")?.textContent).toContain("This link has expired.");
  expect(document.body.textContent).not.toContain(link.code);
  button("New code")?.click();
  expect(make).toHaveBeenCalledTimes(2);
});

it("signing out ends this device and leaves the page", async () => {
  const logout = vi.spyOn(api, "logout").mockResolvedValue();
  const onLeave = await open();
  button("Sign out this device")?.click();
  await settle();
  expect(logout).toHaveBeenCalled();
  expect(onLeave).toHaveBeenCalled();
});

it("activity is read when it is opened, page by page", async () => {
  const entry = { id: 2, at: now, device: "Firefox on Linux", action: "sign-in", detail: "a\u202eb", address: "::1" };
  const audit = vi
    .spyOn(pagesApi, "audit")
    .mockResolvedValueOnce({ entries: [entry], next: 2 })
    .mockResolvedValueOnce({ entries: [{ ...entry, id: 1, action: "prompt" }] });
  await open();
  expect(audit).not.toHaveBeenCalled();
  const details = document.querySelector<HTMLDetailsElement>(".activity");
  if (details) details.open = true;
  await vi.advanceTimersByTimeAsync(1);
  expect(details?.textContent).toContain("Firefox on Linux sign in: a⟨U+202E⟩b from ::1");
  button("Older")?.click();
  await settle();
  expect(audit).toHaveBeenLastCalledWith(30, 2);
  expect(details?.querySelectorAll("li")).toHaveLength(2);
  expect(button("Older")).toBeUndefined();
});

it("a device that can only watch sees the list and changes nothing", async () => {
  setDevice({ ...own, kind: "read-only" });
  await open();
  expect(rows()).toEqual(["Firefox on Linux", "Chrome on Android"]);
  expect(button("Revoke Chrome on Android")).toBeUndefined();
  expect(button("Add a device")?.disabled).toBe(true);
  expect(document.querySelector(".activity")).toBeNull();
});

it("no code is shown for an address that only this computer can open", async () => {
  reach = local;
  const make = vi.spyOn(pagesApi, "makeLink").mockResolvedValue({ ...link, url: "http://127.0.0.1:8000/login?link=x" });
  await open();
  button("Add a device")?.click();
  await settle();
  const panel = document.querySelector(".add-device");
  expect(panel?.textContent).toContain("A phone can’t reach this address yet. VoxPilot listens on 127.0.0.1:8000");
  expect(button("Make a link"), "there is nowhere to go yet").toBeUndefined();
  document.querySelector<HTMLInputElement>("input[value=here]")?.click();
  button("Make a link")?.click();
  await settle();
  expect(make).toHaveBeenCalledWith("full", undefined);
  expect(panel?.querySelector("img")).toBeNull();
  expect(panel?.textContent).toContain("This link works only on this computer.");
});

it("the network is opened after consent to its address, and the code comes once that answers", async () => {
  reach = local;
  const openNetwork = vi.spyOn(pagesApi, "openNetwork").mockImplementation(async () => {
    reach = open_network;
    return reach;
  });
  let answer = (_: { answers: boolean; problem?: string }) => {};
  vi.mocked(pagesApi.checkReach).mockImplementation(() => new Promise((resolve) => (answer = resolve)));
  const make = vi.spyOn(pagesApi, "makeLink").mockResolvedValue(link);
  vi.stubGlobal("isSecureContext", true);
  await open();
  button("Add a device")?.click();
  await settle();
  button("Turn on…")?.click();
  expect(document.querySelector(".turn-on")?.textContent).toContain("The new address is https://192.168.1.20:8000.");
  expect(openNetwork).not.toHaveBeenCalled();
  button("Turn on")?.click();
  await settle();
  expect(openNetwork).toHaveBeenCalledExactlyOnceWith("192.168.1.20");
  expect(make, "it has not answered yet").not.toHaveBeenCalled();
  answer({ answers: true });
  await settle();
  expect(make).toHaveBeenCalledExactlyOnceWith("full", url);
  expect(document.querySelector(".add-device img")).not.toBeNull();
  vi.unstubAllGlobals();
});

it("an address that does not answer is named with the reason and what to do", async () => {
  vi.mocked(pagesApi.checkReach).mockResolvedValue({ answers: false, problem: "host.lan:8000 can't be reached." });
  const closeNetwork = vi.spyOn(pagesApi, "closeNetwork").mockImplementation(async () => {
    reach = local;
  });
  await open();
  button("Add a device")?.click();
  await settle();
  const panel = document.querySelector(".add-device");
  expect(panel?.querySelector("[role=alert]")?.textContent).toContain("host.lan:8000 can't be reached.");
  expect(panel?.textContent).toContain("sudo ufw allow 8000/tcp");
  expect(button("Make a link")).toBeUndefined();
  button("Turn off again")?.click();
  await settle();
  expect(closeNetwork).toHaveBeenCalledOnce();
  expect(panel?.textContent).toContain("A phone can’t reach this address yet.");
});
