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

// Making one takes far longer than using it.
const to_minute = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const to_second = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export function clock(time: string | Date, finest: "minute" | "second" = "minute"): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return "";
  return (finest === "second" ? to_second : to_minute).format(at);
}
