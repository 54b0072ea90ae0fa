// Conversations that are made without the page, and a picture to send along.

import { expect } from "@playwright/test";
import type { Server } from "./server";

/** One pixel. */
export const dot = {
  name: "dot.png",
  mimeType: "image/png",
  buffer: Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
};

export async function createSession(server: Server, title: string): Promise<string> {
  return (await (await server.call("POST", "/api/sessions", { title })).json()).id;
}

export async function say(server: Server, id: string, content: string): Promise<void> {
  const answer = await server.call("POST", `/api/sessions/${id}/messages`, { content });
  expect(answer.status).toBe(202);
}

export async function waitUntil(server: Server, id: string, waiting: number): Promise<void> {
  await expect
    .poll(
      async () => {
        const { running, queue_len } = await (await server.call("GET", `/api/sessions/${id}`)).json();
        return queue_len + (running ? 1 : 0);
      },
      { intervals: [20, 50] },
    )
    .toBeLessThanOrEqual(waiting);
}

/** Short turns of the fast agent, numbered from 0. */
export async function converse(server: Server, id: string, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await say(server, id, `flood 3 200 (${turn})`);
    if (turn % 10 === 9) await waitUntil(server, id, 2);
  }
  await waitUntil(server, id, 0);
}
