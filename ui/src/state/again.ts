// The files of a message that is sent once more: fetched from the server, which has them.

import { api } from "../api/client";
import type { Attachment, NewAttachment } from "../api/types";
import { readFile } from "./attachments";

/** What went along with a message, to go along with it once more. What its words mention is found in them again. */
export async function fetchAgain(sessionId: string, content: string, sent: Attachment[]): Promise<NewAttachment[]> {
  const own = sent.filter(({ kind, name }) => kind !== "path" || !content.includes(`@${name}`));
  return await Promise.all(
    own.map(async ({ id, kind, name, mime_type }): Promise<NewAttachment> => {
      if (kind === "path") return { kind, path: name };
      const response = await fetch(api.attachmentUrl(sessionId, id));
      if (!response.ok) throw new Error(`“${name}” can’t be loaded again. Attach it again.`);
      return await readFile(new File([await response.arrayBuffer()], name, { type: mime_type }));
    }),
  );
}
