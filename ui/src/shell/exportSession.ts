// A session as a Markdown file, for people who read it elsewhere. The command line writes the same (`voxpilot export`).

import { api } from "../api/client";
import type { Delegation, Message, Session } from "../api/types";
import { visible } from "../state/visible";
import { endWord } from "../talk/callStatus";

const page_size = 200;

export async function exportSession(session: Session): Promise<void> {
  const text = markdownOf(session, await allMessages(session.id));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  link.download = `${fileName(session.title)}.md`;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function allMessages(id: string): Promise<Message[]> {
  const pages: Message[][] = [];
  let before: string | null = null;
  do {
    const page: { messages: Message[]; more: boolean } = await api.messages(id, before, page_size);
    pages.unshift(page.messages);
    before = page.more ? (page.messages[0]?.id ?? null) : null;
  } while (before !== null);
  return pages.flat();
}

const fileName = (title: string) =>
  title
    .replace(/[^\p{Letter}\p{Number}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80) || "session";

/** Nothing in it is hidden. */
export function markdownOf(session: Session, messages: Message[]): string {
  const facts = [
    ["Session", session.id],
    ["Created", session.created_at],
    ["Model", session.model],
    ["Agent", session.agent],
    ["Work directory", session.work_dir],
  ].map(([name, value]) => `- ${name}: \`${value}\``);
  const head = `# ${(session.title || "Untitled").replaceAll("\n", " ")}\n\n${facts.join("\n")}`;
  return `${visible([head, ...messages.map(entryOf)].join("\n\n"))}\n`;
}

function entryOf(message: Message): string {
  const text = message.display ?? message.content;
  const isOutput = message.role === "tool" && !message.delegation;
  const parts = [
    `## ${speaker(message)}`,
    `<!-- ${message.created_at} -->`,
    isOutput ? fenced(text) : text.trim(),
    ...(message.tool_calls ?? []).map((call) => `Calls \`${call.name}\`:\n\n${fenced(call.arguments)}`),
    ...(message.delegation ? workOf(message.delegation, message.content) : []),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function speaker({ role, delegation }: Message): string {
  if (role === "user") return "You";
  if (role !== "tool") return "VoxPilot";
  return delegation ? `Agent [${delegation.session_name}]` : "Tool";
}

/** What the agent did beside talking, and how it ended. */
function workOf({ updates, stop_reason }: Delegation, result: string): string[] {
  const done = (updates ?? []).flatMap(({ update }) => {
    const title = "title" in update ? (update.title ?? "").replaceAll("\n", " ") : "";
    if (update.type === "tool_call") return [`- ${title} (${callWord(update.status ?? "")})`];
    return update.type === "approved" ? [`- ${title} (allowed by the ${update.by})`] : [];
  });
  return [done.join("\n"), `*Ended: ${endWord(stop_reason, result)}*`];
}

function callWord(status: string): string {
  if (status === "cancelled") return "stopped";
  return status === "declined" || status === "rejected" ? "declined, not applied" : status;
}

/** Nothing in the text can close it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n+$/, "")}\n${fence}`;
}
