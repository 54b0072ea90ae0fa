// Words that leave by themselves, with a way back where there is one.

import { createEffect, createSignal, For, Show } from "solid-js";

const shown_ms = 6_000;

interface Toast {
  id: number;
  text: string;
  undo: (() => void) | null;
  timer: ReturnType<typeof setTimeout>;
  leave: () => void;
}

const [toasts, setToasts] = createSignal<Toast[]>([]);
let count = 0;

const drop = (id: number) => setToasts((all) => all.filter((toast) => toast.id !== id));

export function tell(text: string): void {
  show(text, null, () => {});
}

/** Does something after six seconds, unless it is taken back. `now` is for whoever leaves the page sooner. */
export function tellUndoable(text: string, undo: () => void, done: () => void): { now(): void } {
  return { now: show(text, undo, done) };
}

function show(text: string, undo: (() => void) | null, done: () => void): () => void {
  count += 1;
  const id = count;
  let isOver = false;
  const end = (how: () => void) => () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    drop(id);
    how();
  };
  const leave = end(done);
  const timer = setTimeout(leave, shown_ms);
  setToasts((all) => [...all.slice(-2), { id, text, undo: undo && end(undo), timer, leave }]);
  return leave;
}

/** Above the composer and what is docked there: nothing that is to be pressed is covered. */
function place(element: HTMLElement): void {
  const box = document.querySelector(".dock > .column")?.getBoundingClientRect();
  const isBelow = box && box.height > 0 && box.bottom > window.innerHeight * 0.7;
  element.style.setProperty("--toast-bottom", isBelow ? `${window.innerHeight - box.top}px` : "0px");
  element.style.setProperty("--toast-middle", isBelow ? `${box.left + box.width / 2}px` : "50%");
}

export function Toasts() {
  let element!: HTMLDivElement;
  createEffect(() => toasts().length > 0 && place(element));
  return (
    <div ref={element} class="toasts" role="status">
      <For each={toasts()}>
        {(toast) => (
          <p class="toast">
            <span>{toast.text}</span>
            <Show when={toast.undo}>
              {(undo) => (
                <button type="button" onClick={() => undo()()}>
                  Undo
                </button>
              )}
            </Show>
          </p>
        )}
      </For>
    </div>
  );
}
