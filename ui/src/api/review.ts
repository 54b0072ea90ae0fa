// A review: what was looked at, what was said about it, and the sending of it. Of a session's changes, or of a stored artifact.

import { answer, client, inSession } from "./client";
import type { Accepted, Comment, NewComment, Submission } from "./types";

export interface ReviewCalls {
  setViewed(path: string, digest: string, viewed: boolean): Promise<void>;
  add(comment: NewComment): Promise<Comment>;
  edit(id: string, text: string): Promise<unknown>;
  drop(id: string): Promise<void>;
  submit(submission: Submission): Promise<Accepted>;
}

/** A mark arrives also from a page that is being left. */
const mark = (id: string, path: string, digest: string, viewed: boolean) => ({
  ...inSession(id),
  body: { path, digest, viewed },
  keepalive: true,
});
const comment = (id: string, comment_id: string) => ({ params: { path: { id, comment_id } } });
/** Also from a page that is being left. */
const left = (id: string, at: string) => ({ ...comment(id, at), keepalive: true });

export const reviewApi = {
  of: (session: string) => answer(client.GET("/api/sessions/{id}/review", inSession(session))),
  session: (id: string): ReviewCalls => ({
    setViewed: (path, digest, viewed) =>
      answer(client.PUT("/api/sessions/{id}/review/viewed", mark(id, path, digest, viewed))),
    add: (body) => answer(client.POST("/api/sessions/{id}/review/comments", { ...inSession(id), body })),
    edit: (at, text) =>
      answer(client.PATCH("/api/sessions/{id}/review/comments/{comment_id}", { ...comment(id, at), body: { text } })),
    drop: (at) => answer(client.DELETE("/api/sessions/{id}/review/comments/{comment_id}", left(id, at))),
    submit: (body) => answer(client.POST("/api/sessions/{id}/review/submit", { ...inSession(id), body })),
  }),
  artifact: (id: string): ReviewCalls => ({
    setViewed: (path, digest, viewed) =>
      answer(client.PUT("/api/artifacts/{id}/viewed", mark(id, path, digest, viewed))),
    add: (body) => answer(client.POST("/api/artifacts/{id}/comments", { ...inSession(id), body })),
    edit: (at, text) =>
      answer(client.PATCH("/api/artifacts/{id}/comments/{comment_id}", { ...comment(id, at), body: { text } })),
    drop: (at) => answer(client.DELETE("/api/artifacts/{id}/comments/{comment_id}", left(id, at))),
    submit: (body) => answer(client.POST("/api/artifacts/{id}/submit", { ...inSession(id), body })),
  }),
};
