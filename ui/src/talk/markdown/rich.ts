// Formulas, footnotes and diagrams: loaded when the first text holds one.

import type { MarkedOptions, Token } from "marked";

export interface Rich {
  extensions: MarkedOptions["extensions"];
  /** What a token of its own is drawn as; null for the others. */
  nodes(token: Token): (Node | string)[] | null;
  /** Draws what stands in a finished block as it was written. */
  draw(block: HTMLElement): void;
  /** Whether a block that was drawn is what this one, not drawn yet, would be. */
  isSame(drawn: HTMLElement, written: HTMLElement): boolean;
}

const signs = /\$|\\[([]|\[\^|(?:`{3,}|~{3,})[ \t]*mermaid/;

let rich: Rich | null = null;
let loading: Promise<void> | null = null;

export const loadedRich = () => rich;

export const mayBeRich = (text: string) => signs.test(text);

export function loadRich(): Promise<void> {
  loading ??= import("./rich/index").then(
    (loaded) => {
      rich = loaded.rich;
    },
    () => {
      // Until the next text it is shown as it is written.
      loading = null;
    },
  );
  return loading;
}
