// Where somebody was reading in each conversation, so that it opens there again. Whoever was at the end is at the end again.

export interface ReadingPlace {
  /** The entry at the top of the view. */
  entry: string;
  /** From the top of the view to that of the entry. */
  offset_px: number;
}

const prefix = "voxpilot.reading.";

export function readingPlace(sessionId: string): ReadingPlace | null {
  try {
    const place = JSON.parse(sessionStorage.getItem(prefix + sessionId) ?? "null");
    return typeof place?.entry === "string" && Number.isFinite(place.offset_px) ? place : null;
  } catch {
    return null;
  }
}

/** Null: at the end. */
export function keepReadingPlace(sessionId: string, place: ReadingPlace | null): void {
  try {
    if (place) sessionStorage.setItem(prefix + sessionId, JSON.stringify(place));
    else sessionStorage.removeItem(prefix + sessionId);
  } catch {
    // Where nothing can be stored, it opens at its end.
  }
}
