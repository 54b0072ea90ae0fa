// How much there is, in words.

export function filesWords(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

/** As many files of a stored set of changes as are named in the conversation; the rest is in the review. */
export const named_files = 3;
