// What a session's work changed, in figures: every page asks for it.

import { answer, client } from "./client";
import type { Since } from "./types";

/** The files without their lines. */
export const readSummary = (id: string, since: Since) =>
  answer(client.GET("/api/sessions/{id}/changes", { params: { path: { id }, query: { since, summary: true } } }));
