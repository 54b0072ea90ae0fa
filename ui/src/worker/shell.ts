// The page for when there is no network: its HTML and what that needs. Nothing that belongs to anybody is kept.

const cache_name = "voxpilot-shell";
const page = "/";
const patience_ms = 4_000;

/** The files with a hash in their name that a page asks for. */
export function assetsOf(html: string): string[] {
  const found = html.matchAll(/(?:src|href)="(\/assets\/[\w./-]+)"/g);
  return [...new Set([...found].map((match) => match[1] as string))];
}

/** The page itself, not the one that asks to sign in. */
const isPage = (html: string): boolean => html.includes('id="app"');

/** Keeps this page, fetches what it needs, and drops what only an earlier one needed. */
async function keep(html: string, headers: Headers): Promise<void> {
  const cache = await caches.open(cache_name);
  const before = await cache.match(page);
  // What was loaded later on by the same page stays.
  if (before && (await before.text()) === html) return;
  const assets = assetsOf(html);
  await Promise.all(
    assets.map(async (path) => {
      if (!(await cache.match(path))) await cache.add(path);
    }),
  );
  await cache.put(
    page,
    new Response(html, { headers: { "content-type": headers.get("content-type") ?? "text/html" } }),
  );
  for (const request of await cache.keys()) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/assets/") && !assets.includes(pathname)) await cache.delete(request);
  }
}

/** Fetches the page anew and keeps it. Whoever is not signed in keeps none. */
export async function keepShell(): Promise<void> {
  const response = await fetch(page, { credentials: "same-origin" });
  if (!response.ok) return;
  const html = await response.text();
  if (isPage(html)) await keep(html, response.headers);
}

/** The network's answer; where there is none in time, what was kept. */
export async function open(request: Request, later: (work: Promise<unknown>) => void): Promise<Response> {
  const cache = await caches.open(cache_name);
  const kept = await cache.match(page);
  try {
    const response = await fetch(request, kept ? { signal: AbortSignal.timeout(patience_ms) } : {});
    if (response.ok && new URL(request.url).pathname === page) {
      const copy = response.clone();
      later(copy.text().then((html) => (isPage(html) ? keep(html, copy.headers) : undefined)));
    }
    return response;
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

/** What has a hash in its name never changes. */
export async function asset(request: Request): Promise<Response> {
  const cache = await caches.open(cache_name);
  const kept = await cache.match(request);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}
