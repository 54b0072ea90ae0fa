// What this browser keeps for itself: drafts, and messages that have not reached the server.
// A browser may refuse to store; then they last as long as the page.

const prefix = "voxpilot.";
const memory = new Map<string, string>();

export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(prefix + key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

export function store(key: string, value: string): void {
  try {
    if (value === "") localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, value);
    memory.delete(key);
  } catch {
    memory.set(key, value);
  }
}

/** The names that begin with `start`. */
export function storedKeys(start: string): string[] {
  const keys = new Set([...memory.keys()].filter((key) => key.startsWith(start)));
  try {
    for (let index = 0; index < localStorage.length; index++) {
      const key = localStorage.key(index) ?? "";
      if (key.startsWith(prefix + start)) keys.add(key.slice(prefix.length));
    }
  } catch {
    // Nothing is stored that could be listed.
  }
  return [...keys];
}

/** Keeps nothing any longer. */
export function forgetStored(): void {
  for (const key of storedKeys("")) store(key, "");
  memory.clear();
}
