// What an agent asks, as a question.

import type { PermissionRequest } from "../../api/types";

const fixed: Record<string, string> = {
  execute: "Run a command?",
  fetch: "Fetch a page?",
  switch_mode: "Change the mode?",
};

const verbs: Record<string, string> = { edit: "Edit", delete: "Delete", move: "Move", read: "Read" };

export function questionOf(request: PermissionRequest): string {
  if (request.form) return request.title;
  const kind = request.kind ?? "";
  if (kind === "execute" || (request.command && !verbs[kind])) return "Run a command?";
  if (fixed[kind]) return fixed[kind];
  const verb = verbs[kind];
  const files = request.files ?? [];
  if (verb && files.length === 1) return `${verb} ${files[0]?.path ?? ""}?`;
  if (verb && files.length > 1) return `${kind === "edit" ? "Change" : verb} ${files.length} files?`;
  return request.title.endsWith("?") ? request.title : `Allow “${request.title}”?`;
}
