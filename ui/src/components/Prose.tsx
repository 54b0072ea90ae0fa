import { For } from "solid-js";

/** Words of the server, in which `…` marks what is to be typed as it stands. */
export function Prose(props: { text: string }) {
  return (
    <For each={props.text.split("`")}>
      {(piece, index) => (index() % 2 === 1 ? <code class="prose-code">{piece}</code> : piece)}
    </For>
  );
}
