import { later } from "../kit/later";

/** Loaded early: whoever sends without a connection must see that it waits. */
export const OutboxList = later(async () => (await import("./OutboxList")).OutboxList);
