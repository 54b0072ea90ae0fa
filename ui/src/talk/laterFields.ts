// The fields of a call are seen when somebody opens it.

import { later } from "../kit/later";

export const Fields = later(async () => (await import("../kit/Fields")).Fields);
