// Addresses for what is not called through the client: streams, pictures, a page that is being left, the service worker.

import type { paths } from "./schema";

type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** One that the server does not describe, or that lacks a name, does not compile. */
export function address<Path extends keyof paths>(path: Path, names: Record<NamesIn<Path>, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent((names as Record<string, string>)[name] ?? ""));
}
