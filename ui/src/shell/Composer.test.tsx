import { createSignal } from "solid-js";
import { render } from "solid-js/web";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { addToDraft, Composer } from "./Composer";

const onSend = vi.fn();
const onStop = vi.fn();
const [running, setRunning] = createSignal(false);
let dispose = () => {};

function mount(draftKey = "s", imagesRefusedBy?: string): HTMLTextAreaElement {
  dispose();
  document.body.replaceChildren();
  dispose = render(
    () => (
      <Composer
        draftKey={draftKey}
        placeholder="Reply"
        running={running()}
        stopping={false}
        imagesRefusedBy={imagesRefusedBy}
        onSend={onSend}
        onStop={onStop}
      />
    ),
    document.body,
  );
  return document.querySelector("textarea") as HTMLTextAreaElement;
}

function type(input: HTMLTextAreaElement, text: string): void {
  input.value = text;
  input.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

function press(input: HTMLTextAreaElement, init: KeyboardEventInit): boolean {
  return input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...init }));
}

const button = (label: string) => document.querySelector<HTMLButtonElement>(`button[aria-label="${label}"]`);

beforeEach(() => {
  localStorage.clear();
  onSend.mockReset();
  onStop.mockReset();
  setRunning(false);
});
afterEach(() => dispose());

it("Enter sends and empties the box", () => {
  const input = mount();
  type(input, "  hello\nthere ");
  expect(press(input, {})).toBe(false);
  expect(onSend).toHaveBeenCalledExactlyOnceWith("hello\nthere", []);
  expect(input.value).toBe("");
});

it.each<[string, KeyboardEventInit]>([
  ["Shift+Enter breaks the line", { shiftKey: true }],
  ["Enter that an input method uses is left to it", { isComposing: true }],
  ["Enter that ends a composition in Safari is left alone", { keyCode: 229 }],
])("%s", (_, init) => {
  const input = mount();
  type(input, "hello");
  expect(press(input, init)).toBe(true);
  expect(onSend).not.toHaveBeenCalled();
});

it("nothing is sent when there is nothing but space", () => {
  const input = mount();
  type(input, "  \n ");
  press(input, {});
  expect(onSend).not.toHaveBeenCalled();
  expect(button("Send")?.disabled).toBe(true);
});

it("a draft is kept for its session until it is sent", () => {
  type(mount("a"), "half a thou");
  expect(mount("b").value).toBe("");
  const input = mount("a");
  expect(input.value).toBe("half a thou");
  press(input, {});
  expect(onSend).toHaveBeenCalledWith("half a thou", []);
  expect(mount("a").value).toBe("");
});

it("while a turn runs it can be stopped, and messages can still be sent", () => {
  const input = mount();
  expect(button("Stop")).toBeNull();
  setRunning(true);
  button("Stop")?.click();
  expect(onStop).toHaveBeenCalledOnce();
  type(input, "next");
  button("Queue")?.click();
  expect(onSend).toHaveBeenCalledWith("next", []);
});

it("a text that is given back stands behind what was written", () => {
  type(mount(), "written");
  addToDraft("s", "given back");
  expect(mount().value).toBe("written\n\ngiven back");
});

it("a pasted image goes along with the message, once, and can be taken away before", async () => {
  const input = mount("pasting");
  paste(input, new File([Uint8Array.of(1, 2, 3)], "dot.png", { type: "image/png" }));
  await vi.waitFor(() => expect(document.querySelector<HTMLImageElement>("img[alt='dot.png']")).not.toBeNull());
  paste(input, new File(["text"], "note.txt", { type: "text/plain" }));
  await vi.waitFor(() => expect(button("Remove note.txt")).not.toBeNull());
  button("Remove note.txt")?.click();
  expect(button("Remove note.txt")).toBeNull();
  type(input, "look");
  press(input, {});
  const image = { kind: "image", name: "dot.png", mime_type: "image/png", data: "AQID" };
  expect(onSend).toHaveBeenCalledExactlyOnceWith("look", [image]);
  expect(button("Remove dot.png")).toBeNull();
});

it("a file can be sent without a word", async () => {
  const input = mount("wordless");
  paste(input, new File([new Uint8Array([1, 2, 3])], "dot.png", { type: "image/png" }));
  await vi.waitFor(() => expect(button("Remove dot.png")).not.toBeNull());
  press(input, {});
  const image = { kind: "image", name: "dot.png", mime_type: "image/png", data: "AQID" };
  expect(onSend).toHaveBeenCalledExactlyOnceWith("Look at dot.png.", [image]);
});

it("a file beyond the limit is refused by name", async () => {
  const input = mount("refusing");
  const large = new File([], "film.mp4");
  Object.defineProperty(large, "size", { value: 9 * 1024 * 1024 });
  paste(input, large);
  await vi.waitFor(() =>
    expect(document.querySelector("[role=alert]")?.textContent).toContain("“film.mp4” is too large"),
  );
  expect(button("Remove film.mp4")).toBeNull();
});

it("an agent that takes no images gets none: no photo is offered, and one that is there keeps the message back", async () => {
  const input = mount("blind", "Blind agent");
  expect(button("Take a photo")).toBeNull();
  expect(button("Attach files")).not.toBeNull();
  paste(input, new File(["a"], "dot.png", { type: "image/png" }));
  await vi.waitFor(() =>
    expect(document.querySelector("[role=alert]")?.textContent).toBe(
      "Blind agent doesn’t take images. Remove “dot.png”.",
    ),
  );
  type(input, "look");
  press(input, {});
  expect(onSend).not.toHaveBeenCalled();
  button("Remove dot.png")?.click();
  press(input, {});
  expect(onSend).toHaveBeenCalledExactlyOnceWith("look", []);
});

it("files that are not sent yet are there after a reload", async () => {
  paste(mount("keeping"), new File(["a"], "a.txt", { type: "text/plain" }));
  await vi.waitFor(() => expect(button("Remove a.txt")).not.toBeNull());
  mount("other");
  expect(button("Remove a.txt")).toBeNull();
  mount("keeping");
  await vi.waitFor(() => expect(button("Remove a.txt")).not.toBeNull());
});

function paste(input: HTMLTextAreaElement, file: File): void {
  const event = new Event("paste", { bubbles: true, cancelable: true });
  Object.defineProperty(event, "clipboardData", { value: { files: [file] } });
  input.dispatchEvent(event);
}
