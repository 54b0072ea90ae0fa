// The keyboard that a touch screen shows over the page.

/** Where the browser lays its keyboard over the page instead of making room, the page makes room itself. */
export function watchKeyboard(): () => void {
  const view = window.visualViewport;
  if (!view) return () => {};
  const fit = () => {
    // Somebody who has zoomed in looks at a part of the page, which stays as it is.
    const isSmaller = view.scale === 1 && view.height < window.innerHeight - 1;
    document.documentElement.style.setProperty("--view", isSmaller ? `${view.height}px` : "100dvh");
    if (isSmaller) window.scrollTo(0, 0);
  };
  view.addEventListener("resize", fit);
  return () => view.removeEventListener("resize", fit);
}
