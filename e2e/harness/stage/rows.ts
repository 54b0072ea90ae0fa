// A list of sessions as it is after some days of work.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type Page } from "@playwright/test";
import type { Server } from "../server";

interface Row {
  id: string;
  title: string;
  outcome: string | null;
  running: boolean;
  waiting: number;
  updated_at: string;
}

/** Those of other days, and how many ago. */
const earlier: Record<string, number> = {
  "OpenAPI from the route table": 1,
  "Cache carrier responses": 1,
  "Try tokio 1.50 on staging": 4,
  "Tidy error messages": 4,
  "Dark mode for the tracking page": 9,
  "Seed data for the demo": 12,
};

async function rows(server: Server): Promise<Row[]> {
  return ((await (await server.call("GET", "/api/sessions")).json()) as { sessions: Row[] }).sessions;
}

export async function make(server: Server, title: string, fields: Record<string, unknown> = {}): Promise<string> {
  const made = await server.call("POST", "/api/sessions", { title, ...fields });
  expect(made.ok, `made: ${title}`).toBe(true);
  return ((await made.json()) as Row).id;
}

/** A session in which something was asked, once it stands as it should. */
async function ask(
  server: Server,
  title: string,
  content: string,
  stands: (row: Row) => boolean,
  fields: Record<string, unknown> = {},
): Promise<void> {
  const id = await make(server, title, fields);
  expect((await server.call("POST", `/api/sessions/${id}/messages`, { content })).ok, `asked: ${title}`).toBe(true);
  const found = async () => (await rows(server)).some((row) => row.id === id && stands(row));
  await expect.poll(found, { message: title, timeout: 60_000 }).toBe(true);
}

const ended = (row: Row) => row.outcome !== null && !row.running;

/** From now on agents ask, and what they do not ask for is theirs. */
export async function asksFirst(server: Server, id: string): Promise<void> {
  expect((await server.call("PATCH", `/api/sessions/${id}`, { permission_policy: "ask" })).ok, "asks first").toBe(true);
  writeFileSync(join(server.directory, "asks"), "");
}

/** Some of every group, with every outcome. */
export async function fillList(server: Server): Promise<void> {
  for (const title of Object.keys(earlier).reverse().filter((title) => !title.includes("tokio"))) await make(server, title);
  await ask(server, "Try tokio 1.50 on staging", "Try tokio 1.50 on staging", ended);
  await ask(server, "Move fixtures to factories", "Move the fixtures to factories", ended, { model: "relay" });
  await ask(server, "Explain the label printer code", "Explain the label printer code", ended);
  await ask(server, "Split parcels table by month", "Split parcels table by month", ended);
  const author = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
  execFileSync("git", ["add", "--all"], { cwd: server.work });
  execFileSync("git", [...author, "commit", "--quiet", "--message", "by month"], { cwd: server.work });
  writeFileSync(join(server.directory, "asks"), "");
  const asking = { permission_policy: "ask" };
  await ask(server, "Flaky test in webhook retries", "Why is the webhook test flaky?", ({ running }) => running);
  await ask(server, "Bump sqlx to 0.9", "Bump sqlx to 0.9", ({ waiting }) => waiting > 0, asking);
}

/** What was made a moment ago is of another day for the page. */
export async function age(page: Page): Promise<void> {
  const day_ms = 24 * 3_600_000;
  await page.route(/\/api\/sessions(\?.*)?$/, async (route) => {
    if (route.request().method() !== "GET") return await route.continue();
    // The server of the test ends before its page does.
    const response = await route.fetch().catch(() => null);
    if (response === null) return await route.abort();
    const body = (await response.json()) as { sessions: Row[] };
    for (const row of body.sessions) {
      const days = earlier[row.title];
      if (days !== undefined) row.updated_at = new Date(Date.parse(row.updated_at) - days * day_ms).toISOString();
    }
    // As the server lists them: the newest first.
    body.sessions.sort((one, other) => Date.parse(other.updated_at) - Date.parse(one.updated_at));
    await route.fulfill({ response, json: body });
  });
}

/** Agents outlive the server; those of a test end with it. */
export async function endAll(server: Server): Promise<void> {
  const busy = async () => (await rows(server)).filter(({ running }) => running);
  const stop = async () => {
    const left = await busy();
    for (const { id } of left) await server.call("POST", `/api/sessions/${id}/cancel`);
    return left.length;
  };
  await expect.poll(stop, { message: "sessions at work" }).toBe(0);
}
