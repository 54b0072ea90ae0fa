// Wiping from one page to the next with a finger. The edges belong to the browser, and what scrolls sideways to itself.

const edge_px = 24;
const least_px = 72;
const widest_px = 699;

interface Swipes {
  /** Whether there is anything to wipe to at this moment. */
  isOn(): boolean;
  /** 1 is the next one, by a wipe to the left. */
  onSwipe(step: 1 | -1): void;
}

/** Returns how to stop. */
export function watchSwipes(frame: HTMLElement, swipes: Swipes): () => void {
  let start: { x: number; y: number } | null = null;
  let isSideways = false;
  const onStart = (event: TouchEvent) => {
    const touch = event.touches[0];
    start = null;
    isSideways = false;
    if (!touch || event.touches.length > 1 || window.innerWidth > widest_px || !swipes.isOn()) return;
    const isEdge = touch.clientX < edge_px || touch.clientX > window.innerWidth - edge_px;
    if (!isEdge && !isTaken(event.target, frame)) start = { x: touch.clientX, y: touch.clientY };
  };
  const onMove = (event: TouchEvent) => {
    const touch = event.touches[0];
    if (!start || !touch) return;
    const [x, y] = [Math.abs(touch.clientX - start.x), Math.abs(touch.clientY - start.y)];
    if (!isSideways && y >= x) start = null;
    else isSideways = true;
    // Browsers that go back and forth by a wipe anywhere would do so as well.
    if (isSideways && event.cancelable) event.preventDefault();
  };
  const onEnd = (event: TouchEvent) => {
    const touch = event.changedTouches[0];
    if (!start || !touch) return;
    const [x, y] = [touch.clientX - start.x, touch.clientY - start.y];
    start = null;
    if (Math.abs(x) < least_px || Math.abs(x) < 2.5 * Math.abs(y)) return;
    if (window.getSelection()?.isCollapsed === false) return;
    swipes.onSwipe(x < 0 ? 1 : -1);
  };
  const onCancel = () => {
    start = null;
  };
  frame.addEventListener("touchstart", onStart, { passive: true });
  frame.addEventListener("touchmove", onMove, { passive: false });
  frame.addEventListener("touchend", onEnd, { passive: true });
  frame.addEventListener("touchcancel", onCancel, { passive: true });
  return () => {
    frame.removeEventListener("touchstart", onStart);
    frame.removeEventListener("touchmove", onMove);
    frame.removeEventListener("touchend", onEnd);
    frame.removeEventListener("touchcancel", onCancel);
  };
}

/** Something there does its own with a sideways move. */
function isTaken(target: EventTarget | null, frame: HTMLElement): boolean {
  for (let at = target instanceof Element ? target : null; at && at !== frame; at = at.parentElement) {
    if (at.matches("textarea, input, dialog, .menu, .panel, .review, .queue-grip")) return true;
    if (at.scrollWidth > at.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(at).overflowX)) return true;
  }
  return false;
}
