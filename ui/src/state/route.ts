// What the address names: home, a session, its review, or one of the other pages. The part behind # never reaches the server, so it
// needs no routes there.

import { batch, createMemo, createRoot, createSignal } from "solid-js";

const pages = ["agents", "conversations", "settings"] as const;
export type Page = (typeof pages)[number];

type ReviewSince = "turn" | "head" | "base";

export type Route =
  | { kind: "home" }
  /** With a file of its work directory beside the conversation, perhaps at a line. */
  | { kind: "session"; id: string; file?: string; line?: number }
  /** Perhaps since a certain moment, and at one of the files. */
  | { kind: "review"; id: string; since?: ReviewSince; file?: string }
  /** A stored set of changes, under review. */
  | { kind: "artifact"; id: string }
  /** The settings have sections; of the agents one may be meant. */
  | { kind: "page"; page: Page; section?: string }
  /** Nothing that there is: said so, and nothing else is opened in its place. */
  | { kind: "bad" };

const session_pattern = /^#\/sessions\/([\w-]+)(\/review(?:\/(turn|head|base)(?:\/(.+))?)?)?$/;

const file_pattern = /^#\/sessions\/([\w-]+)\/files\/([^:]+)(?::(\d+))?$/;

const artifact_pattern = /^#\/artifacts\/([\w-]+)$/;

export function readRoute(hash: string): Route {
  if (hash === "" || hash === "#" || hash === "#/") return { kind: "home" };
  const [, id, review, since, file] = session_pattern.exec(hash) ?? [];
  if (id !== undefined && since)
    return { kind: "review", id, since: since as ReviewSince, ...(file ? { file: decoded(file) } : {}) };
  if (id !== undefined) return { kind: review ? "review" : "session", id };
  const [, inSession, path, line] = file_pattern.exec(hash) ?? [];
  if (inSession !== undefined && path !== undefined)
    return { kind: "session", id: inSession, file: decoded(path), ...(line ? { line: Number(line) } : {}) };
  const artifact = artifact_pattern.exec(hash)?.[1];
  if (artifact !== undefined) return { kind: "artifact", id: artifact };
  const section = /^#\/settings\/([a-z-]+)$/.exec(hash)?.[1];
  if (section !== undefined) return { kind: "page", page: "settings", section };
  const agent = /^#\/agents\/([\w.-]+)$/.exec(hash)?.[1];
  if (agent !== undefined) return { kind: "page", page: "agents", section: agent };
  const page = pages.find((name) => hash === pageHref(name));
  return page ? { kind: "page", page } : { kind: "bad" };
}

/** They lie over whatever is open, which stays as it is beneath them. */
export const devices_href = "#/devices";

const [route, setRoute] = createSignal<Route>(
  location.hash === devices_href ? { kind: "home" } : readRoute(location.hash),
  {
    equals: (before, now) => JSON.stringify(before) === JSON.stringify(now),
  },
);
const [showsDevices, setShowsDevices] = createSignal(location.hash === devices_href);
const settings_href = "#/settings";
let beforeSettings = "";
let beneath = location.hash === devices_href ? "" : location.hash;

const read = () =>
  batch(() => {
    const { hash } = location;
    setShowsDevices(hash === devices_href);
    if (hash === devices_href) return;
    beneath = hash;
    if (!hash.startsWith(settings_href)) beforeSettings = hash;
    setRoute(readRoute(hash));
  });
window.addEventListener("hashchange", read);
if (!location.hash.startsWith(settings_href)) beforeSettings = beneath;

/** Of the session that is open, or under review. */
const [activeId, activePage] = createRoot(() => [
  createMemo(() => {
    const now = route();
    return now.kind === "session" || now.kind === "review" ? now.id : null;
  }),
  createMemo(() => {
    const now = route();
    return now.kind === "page" ? now.page : null;
  }),
]);

export { activeId, activePage, route, showsDevices };

/** Back to what is beneath them. */
export function closeDevices(): void {
  go(beneath || home_href);
}

export const closeSettings = (): void => go(beforeSettings || home_href);

export const home_href = "#/";

export function sessionHref(id: string): string {
  return `#/sessions/${id}`;
}

export function reviewHref(id: string, since?: ReviewSince): string {
  return `#/sessions/${id}/review${since ? `/${since}` : ""}`;
}

/** What the last turn changed, at one of its files if it is named. */
export function turnReviewHref(id: string, file?: string): string {
  return `${reviewHref(id, "turn")}${file === undefined ? "" : `/${encodeURIComponent(file)}`}`;
}

/** Somebody may have cut the address off in the middle of a character. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function pageHref(page: Page): string {
  return `#/${page}`;
}

export const settingsHref = (section: string) => `${settings_href}/${section}`;

export const agentHref = (id: string) => `#/agents/${id}`;

export function go(href: string): void {
  location.hash = href;
  read();
}

export function goTo(id: string | null): void {
  go(id === null ? home_href : sessionHref(id));
}
