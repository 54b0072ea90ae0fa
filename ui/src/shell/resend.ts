// A message that was sent is edited and sent again. What was being written meanwhile waits, and comes back.

import type { NewAttachment } from "../api/types";
import { keepFiles, readFiles } from "../state/files";
import { readStored, store } from "../state/storage";
import { draftName } from "./Composer";

/** Under this name the draft waits, in a mark that tells an empty one from none. */
export const resendName = (draftKey: string) => `resend.${draftKey}`;
const mark = "=";

export async function beginResend(draftKey: string, content: string, files: NewAttachment[]): Promise<void> {
  const [draft, waiting] = [draftName(draftKey), resendName(draftKey)];
  if (readStored(waiting) === null) {
    store(waiting, mark + (readStored(draft) ?? ""));
    await keepFiles(waiting, await readFiles(draft));
  }
  store(draft, content);
  await keepFiles(draft, files);
}

/** Sent or not, the draft is what it was. Answers whether there was any. */
export async function endResend(draftKey: string): Promise<boolean> {
  const [draft, waiting] = [draftName(draftKey), resendName(draftKey)];
  const text = (readStored(waiting) ?? mark).slice(mark.length);
  const files = await readFiles(waiting);
  store(waiting, "");
  store(draft, text);
  await keepFiles(draft, files);
  await keepFiles(waiting, []);
  return text !== "" || files.length > 0;
}
