// Which question is to be seen, asked for from elsewhere on the page.

import { createSignal } from "solid-js";

/** Under which name the need to log in is among the questions. */
export const login_id = "login";

const [wanted, setWanted] = createSignal<{ id: string } | null>(null);

export const wantedQuestion = wanted;

/** Brings a question up and puts focus on it. */
export function showQuestion(id: string): void {
  setWanted({ id });
}
