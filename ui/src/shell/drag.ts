// Rows that are put into another order by hand, with a mouse or a finger.

/** Gives what a grip calls when it is pressed; `onMove` is told once, when the row is let go. */
export function createDrag(
  box: () => HTMLElement | undefined,
  onMove: (from: number, to: number) => void,
): (event: PointerEvent, from: number) => void {
  return (event, from) => {
    const rows = [...(box()?.children ?? [])].filter((row): row is HTMLElement => row.matches("li"));
    const row = rows[from];
    const grip = event.currentTarget as HTMLElement;
    if (!row || event.button !== 0) return;
    const start = event.clientY;
    const middles = rows.map((other) => {
      const { top, height } = other.getBoundingClientRect();
      return top + height / 2;
    });
    grip.setPointerCapture(event.pointerId);
    const onPointerMove = (moved: PointerEvent) => {
      row.classList.add("dragged");
      row.style.translate = `0 ${moved.clientY - start}px`;
    };
    const end = (ended: PointerEvent) => {
      grip.removeEventListener("pointermove", onPointerMove);
      grip.removeEventListener("pointerup", end);
      grip.removeEventListener("pointercancel", end);
      row.classList.remove("dragged");
      row.style.translate = "";
      if (ended.type === "pointercancel") return;
      const at = (middles[from] ?? 0) + ended.clientY - start;
      const to = middles.filter((middle, index) => index !== from && middle < at).length;
      if (to !== from) onMove(from, to);
    };
    grip.addEventListener("pointermove", onPointerMove);
    grip.addEventListener("pointerup", end);
    grip.addEventListener("pointercancel", end);
  };
}
