// The files as a tree: a heading for every directory that has some, and their names beneath it.

import type { FileChange } from "../api/types";

export interface Folder<T extends FileChange = FileChange> {
  /** Empty for the files that lie at the top. */
  path: string;
  files: T[];
}

export function splitPath(path: string): { folder: string; name: string } {
  const at = path.lastIndexOf("/");
  return { folder: path.slice(0, Math.max(0, at)), name: path.slice(at + 1) };
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The files at the top, then folders by name; files by name. */
export function treeOf<T extends FileChange>(files: readonly T[], filter = ""): Folder<T>[] {
  const wanted = filter.trim().toLowerCase();
  const folders = new Map<string, T[]>();
  for (const file of files) {
    if (!file.path.toLowerCase().includes(wanted)) continue;
    const { folder } = splitPath(file.path);
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return [...folders]
    .map(([path, found]) => ({ path, files: found.sort((a, b) => compare(a.path, b.path)) }))
    .sort((a, b) => compare(a.path, b.path));
}

/** In the order of the tree, so that going down there is going down here. */
export function inTreeOrder<T extends FileChange>(files: readonly T[]): T[] {
  return treeOf(files).flatMap((folder) => folder.files);
}
