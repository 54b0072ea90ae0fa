import { createEffect, For, Show } from "solid-js";
import { Visible } from "../kit/Visible";
import type { Suggestion } from "../state/suggest";

const optionId = (list: string, index: number) => `${list}-${index}`;

interface CompletionsProps {
  id: string;
  items: Suggestion[];
  active: number;
  onChoose(index: number): void;
}

/** Suggestions for what is being written; the keys for it are the text box's. */
export function Completions(props: CompletionsProps) {
  let list: HTMLDivElement | undefined;
  createEffect(() => {
    const id = optionId(props.id, props.active);
    if (props.items.length > 0) list?.querySelector(`#${id}`)?.scrollIntoView?.({ block: "nearest" });
  });
  return (
    <Show when={props.items.length > 0}>
      <div ref={list} id={props.id} class="completions" role="listbox" aria-label="Suggestions">
        <For each={props.items}>
          {(item, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the text box, which keeps the focus
            <div
              id={optionId(props.id, index())}
              role="option"
              tabIndex={-1}
              aria-selected={index() === props.active}
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => props.onChoose(index())}
            >
              <span class="completion-label">
                <Visible text={item.label} />
              </span>
              <Show when={item.description}>
                <span class="completion-note">
                  <Visible text={item.description ?? ""} />
                </span>
              </Show>
            </div>
          )}
        </For>
      </div>
    </Show>
  );
}
