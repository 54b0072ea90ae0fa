import { expect, it } from "vitest";
import type { Message, Session } from "../api/types";
import { markdownOf } from "./exportSession";

const session = { id: "s", title: "", created_at: "then", model: "relay", agent: "demo", work_dir: "/w" } as Session;
const message = (part: Partial<Message>): Message => ({ id: "m", role: "user", content: "", created_at: "1", ...part });

it("a session is written as people read it", () => {
  const messages = [
    message({ content: "do \u202eit" }),
    message({
      role: "assistant",
      tool_calls: [{ id: "c", name: "copilot_agent", arguments: '{"prompt":"```x"}' }],
    }),
    message({
      role: "tool",
      content: "short",
      display: "the whole of it",
      delegation: {
        session_name: "main",
        stop_reason: "denied",
        updates: [
          { offset: 0, update: { type: "tool_call", id: "a", title: "Make\na.txt", status: "completed" } },
          { offset: 0, update: { type: "thought", text: "hm" } },
        ],
      } as unknown as NonNullable<Message["delegation"]>,
    }),
    message({ role: "tool", content: "plain ``` output\n" }),
    message({ role: "assistant", content: "**Done.**" }),
  ];
  expect(markdownOf(session, messages).split("\n\n")).toEqual([
    "# Untitled",
    "- Session: `s`\n- Created: `then`\n- Model: `relay`\n- Agent: `demo`\n- Work directory: `/w`",
    "## You",
    "<!-- 1 -->",
    "do ⟨U+202E⟩it",
    "## VoxPilot",
    "<!-- 1 -->",
    "Calls `copilot_agent`:",
    '````\n{"prompt":"```x"}\n````',
    "## Agent [main]",
    "<!-- 1 -->",
    "the whole of it",
    "- Make a.txt (completed)",
    "*Ended: declined*",
    "## Tool",
    "<!-- 1 -->",
    "````\nplain ``` output\n````",
    "## VoxPilot",
    "<!-- 1 -->",
    "**Done.**\n",
  ]);
});
