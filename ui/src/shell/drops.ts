// Files that are dropped on the page.

/** A file that is dropped anywhere on the page goes along with the message; the browser would leave the page for it. */
export function watchDrops(onDrop: (files: File[]) => void): () => void {
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  const over = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.body.classList.add("dragging-files");
  };
  const leave = (event: DragEvent) => {
    if (event.relatedTarget === null) document.body.classList.remove("dragging-files");
  };
  const drop = (event: DragEvent) => {
    document.body.classList.remove("dragging-files");
    if (!hasFiles(event)) return;
    event.preventDefault();
    onDrop([...(event.dataTransfer?.files ?? [])]);
  };
  window.addEventListener("dragover", over);
  window.addEventListener("dragleave", leave);
  window.addEventListener("drop", drop);
  return () => {
    window.removeEventListener("dragover", over);
    window.removeEventListener("dragleave", leave);
    window.removeEventListener("drop", drop);
  };
}
