// What is sent along with a message, before it is sent: read from the browser's files, within the server's limits.

import type { NewAttachment } from "../api/types";

/** The server's own limits; it has the last word. */
export const attachment_max = 8 * 1024 * 1024;
export const message_max = 16 * 1024 * 1024;
export const count_max = 20;

const shown = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** How many bytes it has, from its base64. */
export function sizeOf(attachment: NewAttachment): number {
  if (attachment.kind === "path") return 0;
  if (attachment.kind === "file" && attachment.text != null) return attachment.text.length;
  const data = attachment.data ?? "";
  return Math.floor((data.length * 3) / 4) - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);
}

export function nameOf(attachment: NewAttachment): string {
  return attachment.kind === "path" ? attachment.path : attachment.name;
}

export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} kB`;
  return `${(bytes / (1024 * 1024)).toFixed(1)} MB`;
}

/** Why a file cannot go along with those that are there already; null if it can. */
export function refusal(file: File, others: NewAttachment[]): string | null {
  if (others.length >= count_max)
    return `“${file.name}” was not added: a message takes up to ${count_max} attachments.`;
  if (file.size > attachment_max) {
    return `“${file.name}” is too large: ${formatSize(file.size)}. The limit is ${formatSize(attachment_max)}.`;
  }
  const total = others.reduce((sum, other) => sum + sizeOf(other), file.size);
  if (total > message_max) {
    return `“${file.name}” was not added: the attachments of a message may have ${formatSize(message_max)} in total.`;
  }
  return null;
}

export async function readFile(file: File): Promise<NewAttachment> {
  const name = file.name || "unnamed";
  const data = await readBase64(file);
  if (shown.includes(file.type)) return { kind: "image", name, mime_type: file.type, data };
  return { kind: "file", name, mime_type: file.type || "application/octet-stream", data };
}

function readBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(new Error(`“${file.name}” cannot be read.`));
    reader.readAsDataURL(file);
  });
}
