// Paths as people know them: below the work directory, relative to it.

import { createContext, useContext } from "solid-js";

export const WorkDir = createContext<() => string | undefined>(() => undefined);

/** Takes the work directory out of a text that names paths. */
export function usePath(): (text: string) => string {
  const workDir = useContext(WorkDir);
  return (text) => {
    const root = workDir();
    return root === undefined || root === "/" ? text : text.replaceAll(`${root}/`, "");
  };
}
