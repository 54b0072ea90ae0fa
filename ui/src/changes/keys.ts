// Keys of a review. Letters count only where nobody writes, and where nothing lies above the review.

export interface ReviewKeys {
  file(step: 1 | -1): void;
  change(step: 1 | -1): void;
  viewed(): void;
  comment(): void;
  send(): void;
}

export function watchKeys(keys: ReviewKeys): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open], [role=menu]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      return keys.send();
    }
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.isContentEditable || target.matches?.("input, textarea, select")) return;
    const actions: Record<string, () => void> = {
      j: () => keys.file(1),
      k: () => keys.file(-1),
      n: () => keys.change(1),
      p: () => keys.change(-1),
      v: () => keys.viewed(),
      c: () => keys.comment(),
    };
    const action = actions[event.key.toLowerCase()];
    if (!action || event.shiftKey) return;
    event.preventDefault();
    action();
  };
  document.addEventListener("keydown", listen);
  return () => document.removeEventListener("keydown", listen);
}
