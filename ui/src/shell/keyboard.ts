// Keys that work everywhere on the page.

const composerId = "composer-input";

export { composerId };

const composer = () => document.getElementById(composerId) as HTMLTextAreaElement | null;

/** A text waits in it. */
export const isWriting = (): boolean => Boolean(composer()?.value.trim());

export function focusComposer(): void {
  composer()?.focus();
}

/** One screen at a time. */
export const isPhone = () => window.matchMedia?.("(max-width: 699px)").matches ?? false;

/** Where somebody writes by keys; a phone must not raise its keyboard by itself. */
export function focusComposerOnDesk(): void {
  if (!window.matchMedia?.("(pointer: coarse)").matches) focusComposer();
}

/** Puts a text behind what is being written, as if it had been typed. */
export function writeInComposer(text: string): void {
  const input = composer();
  if (!input) return;
  const gap = input.value === "" || /\s$/.test(input.value) ? "" : " ";
  input.value += gap + text;
  input.dispatchEvent(new InputEvent("input", { bubbles: true }));
  input.focus();
}

/** Back to the conversation, where a phone must not raise its keyboard. */
export function focusConversation(): void {
  if (window.matchMedia?.("(pointer: coarse)").matches) document.querySelector<HTMLElement>(".log")?.focus();
  else focusComposer();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

export interface Shortcuts {
  palette(): void;
  help(): void;
  fresh(): void;
  changes(): void;
  /** Null where the browser's own find is as good. */
  find: () => (() => void) | null;
  /** The one before or after in the list. */
  step(by: 1 | -1): void;
  nextWaiting(): void;
  stop(): void;
}

/** Two presses within this are one wish. */
const twice_ms = 700;
/** Not 0: that is when the page was opened. */
const never = Number.NEGATIVE_INFINITY;

/** Returns how to stop. */
export function watchShortcuts(does: Shortcuts): () => void {
  let lastEscape = never;
  const find = (event: KeyboardEvent): (() => void) | undefined => {
    const key = event.key.toLowerCase();
    const control = event.ctrlKey || event.metaKey;
    if (control && !event.altKey) {
      if (event.shiftKey) return { o: does.fresh, d: does.changes }[key];
      if (key === "k") return does.palette;
      const isCovered = document.querySelector("dialog[open], main > [inert], .find-bar :focus");
      return key === "f" && !isCovered ? (does.find() ?? undefined) : undefined;
    }
    if (event.altKey && !event.shiftKey) {
      if (event.key === "ArrowUp") return () => does.step(-1);
      if (event.key === "ArrowDown") return () => does.step(1);
      // A Mac writes a letter of its own with this key; its place on the keyboard is the same.
      return event.code === "KeyN" ? does.nextWaiting : undefined;
    }
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return undefined;
    return { "?": does.help, "/": focusComposer }[event.key];
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.key === "Escape") {
      const isSecond = event.timeStamp - lastEscape < twice_ms;
      lastEscape = isSecond ? never : event.timeStamp;
      // What is open is closed by it; that is no wish to stop anything.
      if (document.querySelector("dialog[open], .menu, .inline-edit")) lastEscape = never;
      else if (isSecond) does.stop();
      return;
    }
    const run = find(event);
    if (!run) return;
    event.preventDefault();
    run();
  };
  window.addEventListener("keydown", onKeyDown);
  return () => window.removeEventListener("keydown", onKeyDown);
}
