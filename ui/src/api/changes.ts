// What a session's work changed, line by line: asked for, taken back, committed.

import { address } from "./address";
import { answer, client, inSession, upTo, withKey } from "./client";
import type { Commit, Revert, Since, TextSide } from "./types";

/** An agent has to be asked, or much has to be read. */
const long_ms = 120_000;

const path = (id: string) => ({ path: { id } });

export const changesApi = {
  changes: (session: string, since: Since) =>
    answer(
      client.GET("/api/sessions/{id}/changes", { params: { ...path(session), query: { since } }, ...upTo(long_ms) }),
    ),
  file: (session: string, since: Since, file: string) =>
    answer(
      client.GET("/api/sessions/{id}/changes/file", {
        params: { ...path(session), query: { since, path: file } },
        ...upTo(long_ms),
      }),
    ),
  lines: (session: string, since: Since, file: string, side: TextSide, from: number, to: number) =>
    answer(
      client.GET("/api/sessions/{id}/changes/lines", {
        params: { ...path(session), query: { since, path: file, side, from, to } },
      }),
    ),
  pictureUrl: (session: string, since: Since, file: string, side: TextSide) =>
    withKey(address("/api/sessions/{id}/changes/picture", { id: session }), { since, path: file, side }),
  revert: (session: string, body: Revert) =>
    answer(client.POST("/api/sessions/{id}/changes/revert", { ...inSession(session), body })),
  undo: (session: string, undo: string) =>
    answer(client.POST("/api/sessions/{id}/changes/undo", { ...inSession(session), body: { undo } })),
  commit: (session: string, body: Commit) =>
    answer(client.POST("/api/sessions/{id}/changes/commit", { ...inSession(session), body, ...upTo(long_ms) })),
  draft: (session: string, paths: string[]) =>
    answer(
      client.POST("/api/sessions/{id}/changes/draft", { ...inSession(session), body: { paths }, ...upTo(long_ms) }),
    ),
};
