// What can be done with the session that is open, for the palette.

import { createSignal } from "solid-js";
import type { Row } from "../api/types";

export interface Opened {
  session: () => Row | undefined;
  rename(): void;
  changes(): void;
  rules(): void;
  traffic(): void;
}

export const [opened, setOpened] = createSignal<Opened | null>(null);
