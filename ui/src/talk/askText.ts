// What a request of an agent's comes to, in words, and how far an answer for always would reach.

import type { AskedFile, PermissionRequest } from "../api/types";

/** A directory as the request names it: below the work directory, relative to it. */
export function directoryText(cwd: string): string {
  return cwd === "." ? "the work directory" : cwd;
}

export const placeText: Record<AskedFile["place"], string> = {
  inside: "",
  outside: "outside the work directory",
  protected: "protected",
};

export function isProtected(request: PermissionRequest): boolean {
  return (request.files ?? []).some((file) => file.place === "protected");
}

/** What an answer for always would cover; null where every single one is asked for. */
export function covers(request: PermissionRequest): string | null {
  const files = request.files ?? [];
  if (isProtected(request)) return null;
  if (request.kind === "execute" && request.command) {
    return request.cwd ? `this exact command in ${directoryText(request.cwd)}` : "this exact command";
  }
  const isEdit = request.kind === "edit" && files.length > 0 && files.every((file) => file.place === "inside");
  return isEdit ? "every change to files in the work directory, except protected ones" : "exactly this request";
}

/** The variables that a command would be run with, as they would be typed. */
export function environmentOf(input: unknown): string[] {
  if (typeof input !== "object" || input === null) return [];
  const { env, environment } = input as { env?: unknown; environment?: unknown };
  const variables = env ?? environment;
  if (Array.isArray(variables)) {
    return variables.flatMap((one) =>
      one && typeof one === "object" && "name" in one ? [`${one.name}=${one.value ?? ""}`] : [],
    );
  }
  if (typeof variables !== "object" || variables === null) return [];
  return Object.entries(variables).map(([name, value]) => `${name}=${String(value)}`);
}
