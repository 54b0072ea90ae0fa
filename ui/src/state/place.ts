// Signing in leads over a page of the server's and back to the first one: where somebody was is kept for the way.

const key = "voxpilot.place";

export function keepPlace(): void {
  try {
    sessionStorage.setItem(key, location.hash);
  } catch {
    // A browser that stores nothing opens the first page.
  }
}

/** Once, and only for a page that was not opened by a link of its own. */
export function returnToPlace(): void {
  try {
    const hash = sessionStorage.getItem(key);
    sessionStorage.removeItem(key);
    // Like a link: whoever watches the address hears of it.
    if (hash && location.hash === "") location.replace(hash);
  } catch {
    // As above.
  }
}
