import { createContext } from "solid-js";

/** Which of several questions is the one of now. */
export interface Pages {
  at(): number;
  count(): number;
  go(step: number): void;
  /** Whether keys are meant for this one. */
  isCurrent(id: string): boolean;
}

export const Pager = createContext<Pages>();
