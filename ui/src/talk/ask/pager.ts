import { createContext } from "solid-js";

/** Which of several questions is the one of now. */
export interface Pages {
  at(): number;
  count(): number;
  go(step: number): void;
  /** Whether keys are meant for this one. */
  isCurrent(id: string): boolean;
  /** On a phone: the sheet goes, and a bar brings it back. */
  putAside(): void;
  /** Of a denial that can be taken back: when the agent is told. */
  heldUntil(id: string): number | undefined;
  undo(id: string): Promise<void>;
  /** The card of now is gone, and the focus with it. */
  moveOn(): void;
}

export const Pager = createContext<Pages>();
