// Whether somebody is finding words in the conversation that is open.

import { createSignal } from "solid-js";

export const [finding, setFinding] = createSignal(false);
