// What the shell shows of files. All of it is loaded when it is first needed.

import { later } from "../kit/later";

/** Beside the conversation. */
export const FileViewer = later(async () => (await import("./FileViewer")).FileViewer);
