/** Copies a text, also on a page that came without encryption, where browsers offer only the old way. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  const host = document.querySelector("dialog[open]") ?? document.body;
  const area = document.createElement("textarea");
  area.value = text;
  host.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("Copying was blocked by the browser.");
}
