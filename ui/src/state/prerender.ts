// Asks the server for the rendered form of messages whose text is ahead of it: one request at a time,
// and not too many a second.

import { NetworkError } from "../api/client";
import type { Message } from "../api/types";

export const pause_ms = 250;
const retry_ms = 2_000;

export interface Prerender {
  /** A message has grown or ended. */
  want(messageId: string): void;
  close(): void;
}

export interface PrerenderOptions {
  /** How much text of that message there is, and how much of it is rendered. */
  progress(messageId: string): { length: number; rendered: number } | null;
  fetch(messageId: string): Promise<Message>;
  onRendered(messageId: string, html: string, length: number): void;
}

export function createPrerender(options: PrerenderOptions): Prerender {
  const wanted = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let busy = false;
  let closed = false;
  let notBefore = 0;

  function isBehind(id: string): boolean {
    const progress = options.progress(id);
    return progress !== null && progress.rendered < progress.length;
  }

  function schedule(): void {
    if (closed || busy || timer !== undefined || wanted.size === 0) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        void renderNext();
      },
      Math.max(0, notBefore - Date.now()),
    );
  }

  async function renderNext(): Promise<void> {
    const id = wanted.values().next().value;
    if (id === undefined) return;
    wanted.delete(id);
    if (!isBehind(id)) return schedule();
    busy = true;
    notBefore = Date.now() + pause_ms;
    try {
      const message = await options.fetch(id);
      if (!closed && message.html != null) options.onRendered(id, message.html, message.content.length);
    } catch (error) {
      // A message that the server refuses to render stays plain text.
      if (error instanceof NetworkError) {
        wanted.add(id);
        notBefore = Date.now() + retry_ms;
      }
    }
    busy = false;
    schedule();
  }

  return {
    want(id) {
      wanted.add(id);
      schedule();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
