import { render } from "solid-js/web";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError } from "../../api/client";
import type { PermissionAnswer, PermissionRequest } from "../../api/types";
import { setDevice } from "../../state/device";
import { PermissionCard } from "./PermissionCard";

let dispose = () => {};
let tests = 0;
/** When the hand did it, if the page hears of it only later. */
let pressedAt: number | null = null;
beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["Date", "setTimeout", "clearTimeout", "performance", "requestAnimationFrame", "cancelAnimationFrame"],
  });
  vi.spyOn(Event.prototype, "timeStamp", "get").mockImplementation(() => pressedAt ?? performance.now());
  // The clock of the page never goes back.
  tests += 1;
  vi.advanceTimersByTime(tests * 60_000);
  // jsdom knows the element, but not how to open it.
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
});
afterEach(() => {
  pressedAt = null;
  settle();
  vi.restoreAllMocks();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  setDevice(null);
  dispose();
  document.body.replaceChildren();
});

const device = {
  id: "d",
  name: "Firefox on Linux",
  created_at: "2026-01-01T00:00:00Z",
  last_used_at: "2026-01-01T00:00:00Z",
  expires_at: "2026-02-01T00:00:00Z",
  address: "127.0.0.1",
  current: true,
};

const request: PermissionRequest = {
  request_id: "r",
  tool_call_id: "c",
  session_name: "main",
  asked_at: "2026-01-01T00:00:00Z",
  title: "Run it",
  kind: "execute",
  command: "echo '  two  blanks '\nls",
  locations: [{ path: "/w/a.txt", line: 3 }],
  options: [
    { option_id: "always", name: "Always allow", kind: "allow_always" },
    { option_id: "once", name: "Allow once", kind: "allow_once" },
    { option_id: "no", name: "Deny", kind: "reject_once" },
  ],
};

function mount(onChoose = vi.fn(async (_: PermissionAnswer) => {}), asked = request) {
  dispose = render(() => <PermissionCard request={asked} agent="Codex" onChoose={onChoose} />, document.body);
  settle();
  const button = (name: string) =>
    [...document.querySelectorAll("button")].findLast((found) => found.textContent?.replace(/ [↵AD]$/, "") === name);
  return { onChoose, button };
}

/** Until what has just been drawn can be pressed. */
const settle = () => vi.advanceTimersByTime(520);

function press(button: HTMLElement | undefined, at = { clientX: 0, clientY: 0 }): void {
  const init = { bubbles: true, cancelable: true, detail: 1, ...at };
  button?.dispatchEvent(new MouseEvent("pointerdown", init));
  button?.dispatchEvent(new MouseEvent("click", init));
}

const key = (type: "keydown" | "keyup", on: EventTarget | null | undefined, init: KeyboardEventInit = {}) =>
  on?.dispatchEvent(new KeyboardEvent(type, { key: "Enter", bubbles: true, cancelable: true, ...init }));

const choices = () => [...document.querySelectorAll<HTMLElement>(".always-scope > span")].map(told);
const told = (scope: HTMLElement) => scope.firstChild?.textContent;
const choose = (index: number) => document.querySelectorAll<HTMLElement>(".always-scope input")[index]?.click();

it("asks in plain words, with the exact command, and offers the same answers for every agent", () => {
  mount();
  expect(document.querySelector("h2")?.textContent).toBe("Run a command?");
  expect(document.querySelector(".ask-who")?.textContent).toBe("🤖 Codex [main]");
  expect(document.querySelector("code.command")?.textContent).toBe(request.command);
  expect(document.querySelectorAll(".command-line")).toHaveLength(2);
  expect(document.querySelector(".locations")?.textContent).toBe("/w/a.txt:3");
  expect([...document.querySelectorAll("button")].map((button) => button.textContent?.trim())).toEqual([
    "Allow ↵",
    "Always… A",
    "Deny D",
    "Deny with a reason",
  ]);
});

it("always asks how far, the narrowest first and chosen, in a dialog that names what it grants", async () => {
  const { onChoose, button } = mount();
  button("Allow")?.click();
  expect(onChoose).toHaveBeenLastCalledWith({ option_id: "once" });
  await vi.waitFor(() => expect(button("Always…")?.disabled).toBe(false));
  button("Always…")?.click();
  expect(text("dialog h2")).toBe("Stop asking about this?");
  expect(choices()).toEqual([
    "This exact command, in this session",
    "This exact command, in every session of this project",
  ]);
  expect(document.querySelectorAll<HTMLInputElement>(".always-scope input")[0]?.checked).toBe(true);
  settle();
  choose(1);
  button("Always allow this request")?.click();
  expect(onChoose).toHaveBeenLastCalledWith({ option_id: "always", remember: "project" });
});

const scopes = [
  {
    id: "command-session",
    text: "This command in src/, in this session",
    scope: "session",
    subject: { type: "command" },
  },
  {
    id: "commands-session",
    text: "Every command of Codex, in this session",
    scope: "session",
    subject: { type: "commands" },
  },
] as NonNullable<PermissionRequest["scopes"]>;

it("offers what the server says that can be remembered, by its id", () => {
  const { onChoose, button } = mount(undefined, { ...request, scopes });
  button("Always…")?.click();
  settle();
  expect(choices()).toEqual(["This exact command in src/, in this session", "Every command of Codex, in this session"]);
  expect(button("Always allow this command")).toBeDefined();
  choose(1);
  button("Always allow every command")?.click();
  expect(onChoose).toHaveBeenLastCalledWith({ option_id: "always", scope: "commands-session" });
});

it("always can be a no", () => {
  const { onChoose, button } = mount(undefined, { ...request, scopes });
  button("Always…")?.click();
  settle();
  [...document.querySelectorAll<HTMLElement>(".seg button")].at(-1)?.click();
  button("Always deny this command")?.click();
  expect(onChoose).toHaveBeenLastCalledWith({ option_id: "no", scope: "command-session" });
});

it("the dialog takes nothing for half a second, and closes without an answer", () => {
  const { onChoose, button } = mount(undefined, { ...request, scopes });
  button("Always…")?.click();
  expect(button("Always allow this command")?.getAttribute("aria-disabled")).toBe("true");
  button("Always allow this command")?.click();
  button("Cancel")?.click();
  expect(document.querySelector("dialog")).not.toBeNull();
  settle();
  button("Cancel")?.click();
  expect(document.querySelector("dialog")).toBeNull();
  expect(document.activeElement).toBe(button("Always…"));
  expect(onChoose).not.toHaveBeenCalled();
});

it("nothing that is pressed as the card appears answers it", () => {
  const { onChoose, button } = mount();
  dispose();
  dispose = render(() => <PermissionCard request={request} agent="Codex" onChoose={onChoose} />, document.body);
  button("Allow")?.click();
  button("Deny")?.click();
  expect(onChoose).not.toHaveBeenCalled();
  settle();
  button("Allow")?.click();
  expect(onChoose).toHaveBeenCalledTimes(1);
});

it("a press that began before the card had settled answers nothing, however late the page hears of it", () => {
  const { onChoose, button } = mount();
  pressedAt = performance.now() - 200;
  press(button("Allow"));
  expect(onChoose).not.toHaveBeenCalled();
  pressedAt = null;
  press(button("Allow"));
  expect(onChoose).toHaveBeenCalledTimes(1);
});

it("a key that went down before the card had settled answers nothing, also while it is held", () => {
  const { onChoose, button } = mount();
  dispose();
  key("keydown", document.body);
  dispose = render(() => <PermissionCard request={request} agent="Codex" onChoose={onChoose} />, document.body);
  settle();
  key("keydown", button("Allow"), { repeat: true });
  button("Allow")?.click();
  expect(onChoose).not.toHaveBeenCalled();
  key("keyup", button("Allow"));
  key("keydown", button("Allow"));
  button("Allow")?.click();
  expect(onChoose).toHaveBeenCalledTimes(1);
});

it("a button takes a press only where it has been for half a second", () => {
  let left = 0;
  vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(
    () => ({ left, right: left + 100, top: 0, bottom: 40, width: 100, height: 40 }) as DOMRect,
  );
  const { onChoose, button } = mount();
  const allow = button("Allow");
  expect(allow?.getAttribute("aria-disabled")).toBeNull();
  press(allow, { clientX: 300, clientY: 20 });
  expect(onChoose, "beside it").not.toHaveBeenCalled();
  left = 30;
  press(allow, { clientX: 120, clientY: 20 });
  expect(onChoose, "where it has come to").not.toHaveBeenCalled();
  left = 200;
  press(allow, { clientX: 220, clientY: 20 });
  expect(onChoose, "where it has gone").not.toHaveBeenCalled();
  expect(allow?.getAttribute("aria-disabled")).toBe("true");
  settle();
  press(allow, { clientX: 220, clientY: 20 });
  expect(onChoose).toHaveBeenCalledTimes(1);
});

it("the second press on Deny with a reason denies nothing", () => {
  const { onChoose, button } = mount();
  press(button("Deny with a reason"));
  press(button("Deny"));
  expect(onChoose).not.toHaveBeenCalled();
  press(button("Cancel"));
  press(button("Allow"));
  expect(onChoose).not.toHaveBeenCalled();
});

it("a refusal can say why", () => {
  const { onChoose, button } = mount();
  button("Deny with a reason")?.click();
  settle();
  const field = document.querySelector<HTMLInputElement>("input");
  if (field) field.value = "No containers here.";
  field?.dispatchEvent(new Event("input", { bubbles: true }));
  button("Deny")?.click();
  expect(onChoose).toHaveBeenLastCalledWith({ option_id: "no", reason: "No containers here." });
});

it("answers that are more than yes and no keep the agent's words behind ours", () => {
  const options = [
    { option_id: "a", name: "Yes, go on", label: "Allow: Yes, go on", kind: "allow_once" },
    { option_id: "b", name: "Yes, but ask me", label: "Allow: Yes, but ask me", kind: "allow_once" },
    { option_id: "c", name: "No, keep planning", label: "Deny", kind: "reject_once" },
  ];
  const { onChoose, button } = mount(undefined, { ...request, options } as PermissionRequest);
  button("Allow: Yes, but ask me")?.click();
  expect(onChoose).toHaveBeenLastCalledWith({ option_id: "b" });
});

it("no button reads as what it is not, whatever the agent calls its options", () => {
  const lying: PermissionRequest["options"] = [
    { option_id: "reject", name: "Deny", kind: "allow_once" },
    { option_id: "allow", name: "Allow", kind: "reject_once" },
  ];
  const { onChoose, button } = mount(undefined, { ...request, options: lying });
  button("Deny")?.click();
  expect(onChoose).toHaveBeenLastCalledWith({ option_id: "allow" });
  dispose();
  // Without a label the kind says what it means.
  const two: PermissionRequest["options"] = [
    { option_id: "a", name: "Deny", kind: "allow_once" },
    { option_id: "b", name: "Deny", kind: "allow_once" },
    { option_id: "c", name: "Yes", kind: "reject_always" },
  ];
  mount(undefined, { ...request, options: two });
  const names = [...document.querySelectorAll(".card-actions button")].map((found) => found.textContent?.trim());
  expect(names).toEqual(["Allow", "Allow", "Always deny"]);
  dispose();
  const { button: named } = mount(undefined, { ...request, options: two.slice(1) });
  expect(named("Always deny")).toBeDefined();
  expect(named("Deny")).toBeUndefined();
});

it("a command that runs without a shell says so", () => {
  show({ run: { type: "words", words: ["make", "test"] }, command: "make test" });
  expect(document.body.textContent).toContain("exactly these arguments, without a shell");
  dispose();
  show({ run: { type: "script", script: "make test" }, command: "make test" });
  expect(document.body.textContent).not.toContain("without a shell");
});

it("letters answer it only after the card was clicked or tabbed into", () => {
  const { onChoose } = mount();
  const card = document.querySelector<HTMLElement>("article");
  const press = (key: string, target: EventTarget | null = document.activeElement) =>
    target?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  press("d", document.body);
  card?.focus();
  press("d");
  press("Enter");
  expect(onChoose, "the focus was brought to it").not.toHaveBeenCalled();
  expect(card?.className).not.toContain("engaged");

  card?.click();
  expect(card?.className).toContain("engaged");
  press("d");
  expect(onChoose).toHaveBeenLastCalledWith({ option_id: "no" });
});

it("letters typed into the dialog of always answer nothing", () => {
  const { onChoose, button } = mount();
  button("Always…")?.focus();
  button("Always…")?.click();
  settle();
  const scope = document.querySelector<HTMLElement>(".always-scope input");
  scope?.focus();
  for (const key of ["d", "Enter"])
    scope?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  expect(onChoose).not.toHaveBeenCalled();
});

it("what a keyboard covers cannot be allowed: not by a press, not by a key, until it is seen", () => {
  let look = () => {};
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(heard: () => void) {
        look = heard;
      }
      observe() {}
      disconnect() {}
    },
  );
  const view = Object.assign(new EventTarget(), { offsetTop: 0, height: 300 });
  vi.stubGlobal("visualViewport", view);
  // The command lies in the lower half of the screen.
  vi.spyOn(Element.prototype, "getBoundingClientRect").mockReturnValue({
    top: 420,
    bottom: 520,
    height: 100,
  } as DOMRect);
  const { onChoose, button } = mount();
  look();
  const answers = () => ["Allow", "Deny"].map((name) => button(name)?.disabled);
  expect(answers()).toEqual([true, true]);
  expect(document.body.textContent).toContain("Scroll to what is asked to answer it.");
  vi.advanceTimersByTime(10_000);
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  button("Allow")?.click();
  expect(onChoose).not.toHaveBeenCalled();

  view.height = 700;
  view.dispatchEvent(new Event("resize"));
  expect(answers()).toEqual([false, false]);
  button("Allow")?.click();
  expect(onChoose).toHaveBeenCalledTimes(1);
});

it("says why an answer was not taken, and can be answered again", async () => {
  const { button } = mount(vi.fn(() => Promise.reject(new ApiError(409, "conflict", "already answered"))));
  button("Deny")?.click();
  expect(button("Deny")?.disabled).toBe(true);
  await vi.waitFor(() => expect(document.querySelector("[role=alert]")?.textContent).toBe("already answered"));
  expect(button("Deny")?.disabled).toBe(false);
});

const show = (change: Partial<PermissionRequest>) => mount(undefined, { ...request, ...change });
const text = (selector: string) => document.querySelector(selector)?.textContent;

it("names the directory, also in what always covers", () => {
  const { button } = show({ cwd: "tools/build" });
  expect(text(".card-place")).toBe("in tools/build");
  button("Always…")?.click();
  expect(text(".always-scopes")).toContain("This exact command in tools/build");
  dispose();
  show({ cwd: "." });
  expect(text(".card-place")).toBe("in the work directory");
  dispose();
  show({ cwd: null });
  expect(text(".card-place")).toBe("Folder not stated");
});

it("names the environment of a command", () => {
  show({ input: { command: "ls", env: { PATH: "/evil\u202e" } } });
  expect(text("[aria-label=Environment]")).toBe("PATH=/evil⟨U+202E⟩");
});

it("files come with where they lie, and not with what the agent says of them", () => {
  const { button } = show({
    kind: "edit",
    command: null,
    files: [
      { path: "src/a.rs", place: "inside" },
      { path: "/etc/passwd", place: "outside" },
    ],
  });
  expect([...document.querySelectorAll(".locations li")].map((row) => row.textContent)).toEqual([
    "src/a.rs",
    "/etc/passwd outside the work directory",
  ]);
  expect(text("h2")).toBe("Change 2 files?");
  button("Always…")?.click();
  expect(text(".always-scopes")).toContain("Exactly this request");
});

it("warns about files that run later", () => {
  show({
    kind: "edit",
    command: null,
    files: [{ path: "Makefile", place: "inside" }],
    warnings: [{ path: "Makefile", text: "Runs with the next build." }],
  });
  expect(text(".runs-later")).toBe("Makefile Runs with the next build.");
});

it("a protected file is never allowed for always", () => {
  const { button } = show({ kind: "edit", command: null, files: [{ path: ".git/config", place: "protected" }] });
  expect(button("Always…")).toBeUndefined();
  expect(button("Allow")).toBeDefined();
  expect(text(".locations")).toBe(".git/config protected");
});

it("nothing of a request is hidden, from nobody", () => {
  const rlo = "\u202e";
  show({
    title: `Read a${rlo}b`,
    kind: "other",
    command: `rm -rf ~ #${rlo}`,
    cwd: `sub${rlo}`,
    files: [{ path: `x${rlo}y`, place: "inside" }],
    diff: `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b${rlo}\n`,
    options: [
      { option_id: "once", name: `Allow${rlo}`, label: `Allow: Allow${rlo}`, kind: "allow_once" },
      { option_id: "twice", name: "Allow", label: "Allow: Allow", kind: "allow_once" },
    ],
  });
  expect(document.body.textContent).not.toContain(rlo);
  expect(document.querySelector("article")?.getAttribute("aria-label")).not.toContain(rlo);
  for (const place of [".ask-why", ".command", ".card-place", ".locations", ".tool-output", "button"]) {
    const mark = document.querySelector(`${place} .hidden-char`);
    expect(mark?.textContent, place).toBe("⟨U+202E⟩");
    expect(mark?.getAttribute("title"), place).toBe("U+202E RIGHT-TO-LEFT OVERRIDE");
    expect(mark?.getAttribute("aria-label"), place).toContain("RIGHT-TO-LEFT OVERRIDE");
  }
});

it("a device that can only watch sees everything and answers nothing", () => {
  setDevice({ ...device, kind: "read-only" });
  const { button } = mount();
  expect(text("code.command")).toBe(request.command);
  expect(button("Allow")?.disabled).toBe(true);
  expect(button("Deny")?.disabled).toBe(true);
  expect(document.body.textContent).toContain("This device can only watch.");
});
