import { createSignal, type JSX, onMount, Show, untrack } from "solid-js";
import type { DrawnWindow } from "./window";

/** The place of an entry in the conversation, drawn while it is near what is looked at. */
export function Entry(props: { window: DrawnWindow; id: string; index: number; children: JSX.Element }) {
  const [drawn, setDrawn] = createSignal(untrack(() => props.window.startsDrawn(props.index)));
  let element!: HTMLDivElement;
  onMount(() =>
    props.window.watch(element, { isDrawn: drawn, draw: () => setDrawn(true), clear: () => setDrawn(false) }),
  );
  return (
    <div ref={element} class="entry" data-entry={props.id} classList={{ far: !drawn() }}>
      <Show when={drawn()}>{props.children}</Show>
    </div>
  );
}
