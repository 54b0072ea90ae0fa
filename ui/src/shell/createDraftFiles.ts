// The files of a message that is being written: read, checked, kept over a reload, taken away.

import { createSignal, onMount } from "solid-js";
import { sentence } from "../api/client";
import type { NewAttachment } from "../api/types";
import { nameOf, readFile, refusal } from "../state/attachments";
import { keepFiles, readFiles } from "../state/files";

/** `imagesRefusedBy` names the agent that would get them and takes no images. */
export function createDraftFiles(key: () => string, imagesRefusedBy: () => string | undefined) {
  const [items, setItems] = createSignal<NewAttachment[]>([]);
  const [reading, setReading] = createSignal<string[]>([]);
  const [error, setError] = createSignal<string | null>(null);
  /** The agent may have been chosen after the images. */
  const refused = () => {
    const image = items().find(({ kind }) => kind === "image");
    const agent = imagesRefusedBy();
    return image && agent !== undefined ? `${agent} doesn’t take images. Remove “${nameOf(image)}”.` : null;
  };

  const change = (next: NewAttachment[]) => {
    setItems(next);
    void keepFiles(key(), next);
  };
  onMount(async () => {
    const kept = await readFiles(key());
    if (kept.length > 0) setItems((now) => [...kept, ...now]);
  });

  return {
    items,
    reading,
    error,
    /** Why what is there cannot be sent; null if it can. */
    refused,
    async add(files: Iterable<File>) {
      setError(null);
      for (const file of files) {
        const reason = refusal(file, items());
        if (reason !== null) {
          setError(reason);
          continue;
        }
        setReading((names) => [...names, file.name]);
        try {
          const read = await readFile(file);
          // Others may have come while this one was read.
          const late = refusal(file, items());
          if (late === null) change([...items(), read]);
          else setError(late);
        } catch (reason) {
          setError(sentence(reason));
        }
        setReading((names) => names.toSpliced(names.indexOf(file.name), 1));
      }
    },
    remove(index: number) {
      setError(null);
      change(items().toSpliced(index, 1));
    },
    /** Hands over what there is. */
    take(): NewAttachment[] {
      const taken = items();
      setError(null);
      if (taken.length > 0) change([]);
      return taken;
    },
  };
}
