// A server that was replaced by a newer one has no longer what this page would load later.

/** Opens the newer page then. What was written or is on its way is kept. */
export function watchForNewerPage(): void {
  window.addEventListener("vite:preloadError", async () => {
    const own = document.querySelector("script[type=module]")?.getAttribute("src");
    const html = await fetch("/").then(
      (response) => (response.ok ? response.text() : null),
      () => null,
    );
    // Without a network there is nothing newer to be had.
    if (own && html?.includes("/assets/") && !html.includes(own)) location.reload();
  });
}
