import { For, Show } from "solid-js";
import { Visible } from "../kit/Visible";

/** Words of the server, in which `…` marks what is to be typed as it stands. */
export function Prose(props: { text: string }) {
  return (
    <For each={props.text.split("`")}>
      {(piece, index) => (
        <Show when={index() % 2 === 1} fallback={<Visible text={piece} />}>
          <code class="prose-code">
            <Visible text={piece} />
          </code>
        </Show>
      )}
    </For>
  );
}
