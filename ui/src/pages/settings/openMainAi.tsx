// The form for a main AI, from wherever somebody needs one: over what is open, which stays as it is.

import { render } from "solid-js/web";
import { AddMainAi } from "./AddMainAi";

interface Wish {
  /** The model that somebody wanted. */
  model?: string | undefined;
  /** A text waits in the composer. */
  isWriting?: boolean;
  onAdded(model: string): void;
}

export function openMainAi(wish: Wish): void {
  const place = document.body.appendChild(document.createElement("div"));
  const close = () => {
    dispose();
    place.remove();
  };
  const dispose = render(() => <AddMainAi {...wish} onClose={close} />, place);
}
