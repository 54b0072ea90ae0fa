import { render } from "solid-js/web";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { TraceEntry, TraceFilter } from "../api/types";
import { entryKey, joinNewest } from "../state/trace";
import { Inspector } from "./Inspector";
import { headline, payloadText, size } from "./TraceLine";

const fetched = vi.fn<typeof fetch>();
let dispose = () => {};
let pages: Record<string, unknown>;

function line(seq: number, fields: Partial<TraceEntry> = {}): TraceEntry {
  return {
    runner: "r",
    seq,
    at: "2026-01-02T03:04:05Z",
    direction: "from-agent",
    kind: "notification",
    method: "session/update",
    payload: { params: { n: seq } },
    cut: false,
    size: 120,
    ...fields,
  };
}

beforeEach(() => {
  vi.useFakeTimers();
  pages = {};
  vi.stubGlobal("fetch", fetched);
  fetched.mockReset().mockImplementation(async (input) => {
    const url = new URL((input as Request).url);
    const path = `${url.pathname}${url.search}`.replace("/api/sessions/s/trace", "");
    const page = pages[path];
    if (page === undefined) return new Response('{"error":{"code":"x","message":"It broke."}}', { status: 500 });
    return new Response(JSON.stringify(page));
  });
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
});
afterEach(() => {
  dispose();
  document.body.replaceChildren();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

async function mount(wanted: TraceFilter = {}) {
  dispose = render(() => <Inspector sessionId="s" wanted={wanted} onClose={() => {}} />, document.body);
  await vi.advanceTimersByTimeAsync(0);
}
const lines = () => [...document.querySelectorAll(".trace-line")];
const button = (name: string) =>
  [...document.querySelectorAll("button")].find((one) => one.textContent?.trim() === name);
const press = async (name: string) => {
  button(name)?.click();
  await vi.advanceTimersByTimeAsync(0);
};
const running = { runner: "r", running: true, first_seq: 1 };

it("shows the traffic newest first, page by page", async () => {
  pages[""] = { entries: [line(3), line(2)], next: "r_2", runners: [running] };
  pages["?before=r_2"] = {
    entries: [line(1, { direction: "to-agent", kind: "request", method: "initialize" })],
    runners: [running],
  };
  await mount();
  expect(lines()).toHaveLength(2);
  expect(document.body.textContent).toContain("2 lines, and older ones");
  await press("Older lines");
  expect(lines()).toHaveLength(3);
  expect(lines()[2]?.textContent).toContain("to the agent");
  expect(lines()[2]?.textContent).toContain("initialize");
  expect(button("Older lines")).toBeUndefined();
});

it("asks the server for what fits, once a person has stopped typing", async () => {
  pages[""] = { entries: [line(1)], runners: [running] };
  pages["?text=abc"] = { entries: [], runners: [running] };
  await mount();
  const input = document.querySelector<HTMLInputElement>("input[type=search]");
  for (const value of ["a", "ab", "abc"]) {
    if (input) input.value = value;
    input?.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
  await vi.advanceTimersByTimeAsync(300);
  expect(fetched).toHaveBeenCalledTimes(2);
  expect(document.body.textContent).toContain("No matches.");
});

it("follows what comes and keeps what is open", async () => {
  pages[""] = { entries: [line(1)], runners: [running] };
  await mount();
  const first = lines()[0];
  document.querySelector<HTMLInputElement>("input[type=checkbox]")?.click();
  pages[""] = { entries: [line(2), line(1)], runners: [running] };
  await vi.advanceTimersByTimeAsync(2_100);
  expect(lines()).toHaveLength(2);
  expect(lines()[1]).toBe(first);
});

it("says when it cannot read and tries again", async () => {
  await mount();
  expect(document.querySelector("[role=alert]")?.textContent).toContain("It broke.");
  pages[""] = { entries: [line(1)], runners: [running] };
  await press("Try again");
  expect(document.querySelector("[role=alert]")).toBeNull();
  expect(lines()).toHaveLength(1);
});

it("says why there is nothing, and what is no longer kept", async () => {
  pages[""] = { entries: [], runners: [] };
  await mount();
  expect(document.body.textContent).toContain("No agent has started");
  pages[""] = { entries: [], runners: [{ runner: "r", running: false }] };
  await press("Refresh");
  expect(document.body.textContent).toContain("The traffic of this session is no longer kept.");
  pages[""] = { entries: [line(9)], runners: [{ ...running, first_seq: 9 }] };
  await press("Refresh");
  expect(document.body.textContent).toContain("Older traffic of this session is no longer kept.");
});

it("gets the whole of a payload that was cut", async () => {
  pages[""] = { entries: [line(7, { cut: true, payload: '{"beg', size: 20_000 })], runners: [running] };
  pages["/r/7"] = line(7, { payload: { beginning: "and end" } });
  await mount();
  const details = lines()[0]?.querySelector("details");
  if (details) details.open = true;
  details?.dispatchEvent(new Event("toggle"));
  expect(document.querySelector(".trace-payload")?.textContent).toBe('{"beg…');
  await press("Show all 20.0 kB");
  expect(document.querySelector(".trace-payload")?.textContent).toContain('"beginning": "and end"');
});

it("puts new lines in front only where nothing is missing in between", () => {
  expect(joinNewest([line(3), line(2)], [line(2), line(1)])?.map(entryKey)).toEqual(["r_3", "r_2", "r_1"]);
  expect(joinNewest([line(9), line(8)], [line(2)])).toBeNull();
  expect(joinNewest([line(1)], [])).toEqual([line(1)]);
});

it("says what a line is in a few words", () => {
  expect(headline(line(1))).toBe("session/update");
  expect(headline(line(1, { payload: { params: { update: { sessionUpdate: "plan" } } } }))).toBe("session/update plan");
  const { method: _, ...answer } = line(1, { kind: "response", id: "prompt:1" });
  expect(headline(answer)).toBe("response prompt:1");
  expect(headline({ ...answer, kind: "error", id: 0 })).toBe("error 0");
  expect([payloadText("raw"), payloadText({ a: 1 })]).toEqual(["raw", '{\n  "a": 1\n}']);
  expect([size(5), size(1_500), size(2_000_000)]).toEqual(["5 B", "1.5 kB", "2.0 MB"]);
});

it("shows the lines of a span of time, until all times are wanted", async () => {
  pages["?from_ms=1000&until_ms=3000"] = { entries: [line(2)], runners: [running] };
  pages[""] = { entries: [line(3), line(2), line(1)], runners: [running] };
  await mount({ from_ms: 1_000, until_ms: 3_000 });
  expect(lines()).toHaveLength(1);
  expect(document.querySelector(".inspector-span")?.textContent).toMatch(/^From \d\d:\d\d:01 to \d\d:\d\d:03/);
  await press("Show all times");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lines()).toHaveLength(3);
  expect(document.querySelector(".inspector-span")).toBeNull();
});
