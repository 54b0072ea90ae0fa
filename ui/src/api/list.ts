// The list of sessions and what is found by its words: rows with all that a row shows, search, models, the project.

import { answer, client } from "./client";

/** As many as are shown of what was found. */
const found = 20;
const archived_shown = 100;

export const list = {
  titled: (query: string) => answer(client.GET("/api/sessions", { params: { query: { query, limit: found } } })),
  archived: () => answer(client.GET("/api/sessions", { params: { query: { archived: true, limit: archived_shown } } })),
  search: (query: string) => answer(client.GET("/api/search", { params: { query: { query, limit: found } } })),
  models: () => answer(client.GET("/api/models")),
  project: () => answer(client.GET("/api/project")),
  /** 0 is what comes next. */
  moveQueued: (id: string, message_id: string, position: number) =>
    answer(
      client.PATCH("/api/sessions/{id}/queue/{message_id}", {
        params: { path: { id, message_id } },
        body: { position },
      }),
    ),
  /** After a stop: the next one goes as soon as nothing runs, and the others follow. */
  sendNext: (id: string) => answer(client.POST("/api/sessions/{id}/queue/send-next", { params: { path: { id } } })),
  /** It goes first, and the running turn is stopped. */
  sendNow: (id: string, message_id: string) =>
    answer(client.POST("/api/sessions/{id}/queue/{message_id}/now", { params: { path: { id, message_id } } })),
};
