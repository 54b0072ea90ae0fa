import { For, Show } from "solid-js";
import { type HiddenCharacter, type Piece, pieces } from "../state/visible";

/** A text of somebody else's, in which nothing is hidden. */
export function Visible(props: { text: string }) {
  const found = (): Piece[] => pieces(props.text);
  return (
    <For each={found()}>
      {(piece) => (
        <Show when={typeof piece !== "string" && piece} fallback={piece as string}>
          {(hidden) => markOf(hidden())}
        </Show>
      )}
    </For>
  );
}

/** Read out by its name; what is copied is its number, not itself. */
export function markOf(hidden: HiddenCharacter): HTMLElement {
  const element = document.createElement("span");
  element.className = "hidden-char";
  element.title = hidden.name;
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", `hidden character ${hidden.name}`);
  element.textContent = hidden.mark;
  return element;
}
