/** How long something took or has been going on: "4 s", "1m 52s", "2h 05m". */
export function duration(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  const two = (value: number) => String(value).padStart(2, "0");
  if (s < 3_600) return `${Math.floor(s / 60)}m ${two(s % 60)}s`;
  return `${Math.floor(s / 3_600)}h ${two(Math.floor((s % 3_600) / 60))}m`;
}
