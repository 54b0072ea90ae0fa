// The ways into the raw traffic: they come after what they belong to.

import { later } from "../kit/later";

const load = () => import("./timeline/RawLines");

export const RawLines = later(async () => (await load()).RawLines);
export const RawAnswer = later(async () => (await load()).RawAnswer);
