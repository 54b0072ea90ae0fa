// A file of the work directory as something that can be commented on: all its lines, none of them changed.

import { ApiError } from "../api/client";
import { filesApi } from "../api/files";
import { reviewApi } from "../api/review";
import type { Changes, DiffLine, FileView } from "../api/types";
import type { Source } from "../changes/source";

/** `onView` hears of everything that was found at the path, text or not. */
export function fileSource(session: string, path: string, onView: (view: FileView) => void): Source {
  return {
    // The comments are those of the session's review.
    key: session,
    async load() {
      const view = await filesApi.view(session, path).catch((reason) => {
        throw reason instanceof ApiError && reason.status === 404
          ? new ApiError(404, reason.code, "The file no longer exists.")
          : reason;
      });
      onView(view);
      return unchanged(view);
    },
    version: null,
    notes: () => reviewApi.of(session),
    calls: reviewApi.session(session),
    file: null,
    lines: null,
    picture: null,
    work: null,
    session: () => session,
  };
}

export function linesOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function unchanged(view: FileView): Changes {
  const lines = linesOf(view.text ?? "").map(
    (text, at): DiffLine => ({ kind: "context", new: at + 1, old: at + 1, text }),
  );
  const hunk = { old_start: 1, old_lines: lines.length, new_start: 1, new_lines: lines.length, section: "", lines };
  return {
    since: "head",
    source: "git",
    project: "",
    branch: null,
    base: null,
    version: "",
    cut: false,
    total_files: 1,
    total_additions: 0,
    total_deletions: 0,
    sinces: [],
    meanwhile: [],
    files: [
      {
        path: view.path,
        status: "modified",
        additions: 0,
        deletions: 0,
        binary: view.kind !== "text",
        too_large: false,
        // The lines are drawn anew where the text is another one.
        digest: view.text ?? "",
        hunks: lines.length > 0 ? [hunk] : [],
      },
    ],
  };
}
