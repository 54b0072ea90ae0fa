// Keys that work everywhere on the page.

const composerId = "composer-input";

export { composerId };

export function focusComposer(): void {
  document.getElementById(composerId)?.focus();
}

/** Back to the conversation, where a phone must not raise its keyboard. */
export function focusConversation(): void {
  if (window.matchMedia?.("(pointer: coarse)").matches) document.querySelector<HTMLElement>(".log")?.focus();
  else focusComposer();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

/** "/" and Ctrl+K (or Cmd+K) go to the composer. Returns how to stop. */
export function watchShortcuts(): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    const command = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
    const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
    if (!command && !slash) return;
    event.preventDefault();
    focusComposer();
  };
  window.addEventListener("keydown", onKeyDown);
  return () => window.removeEventListener("keydown", onKeyDown);
}
