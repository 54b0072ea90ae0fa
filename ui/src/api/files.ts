// Files of a session's work directory, to be looked at.

import { address } from "./address";
import { answer, client, inSession, withKey } from "./client";

export const filesApi = {
  view: (session: string, path: string) =>
    answer(client.GET("/api/sessions/{id}/files/view", { params: { path: { id: session }, query: { path } } })),
  pictureUrl: (session: string, path: string) =>
    withKey(address("/api/sessions/{id}/files/picture", { id: session }), { path }),
  /** Those of the paths that are files, as they were given. */
  viewable: async (session: string, paths: string[]): Promise<string[]> =>
    (await answer(client.POST("/api/sessions/{id}/files/viewable", { ...inSession(session), body: { paths } }))).paths,
};
