const steps: [limit_s: number, size_s: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [3_600, 60, "minute"],
  [86_400, 3_600, "hour"],
  [7 * 86_400, 86_400, "day"],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });

export function ago(time: string, now = Date.now()): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return "";
  const age_s = Math.max(0, (now - at) / 1000);
  if (age_s < 60) return "just now";
  for (const [limit_s, size_s, unit] of steps) {
    if (age_s < limit_s) return relative.format(-Math.floor(age_s / size_s), unit);
  }
  return new Date(at).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

export function clock(time: string | Date, finest: "minute" | "second" = "minute"): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return "";
  const second = finest === "second" ? ({ second: "2-digit" } as const) : {};
  return at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...second });
}
