// What the scripted model server answers; the first rule that fits does.

export interface Rule {
  when?: {
    model?: string;
    last_user_contains?: string;
    has_tool_result?: boolean;
    tool_result_contains?: string;
    tool_results?: number;
  };
  times?: number;
  reply: {
    text?: string;
    chunks?: string[];
    chunk_delay_ms?: number;
    tool_calls?: { id?: string; name: string; arguments: unknown }[];
    status?: number;
    body?: unknown;
  };
}

/** The model calls a tool, and says something when it has the result. */
export function callsTool(asked: string, name: string, args: unknown, then: string): Rule[] {
  return [
    { when: { last_user_contains: asked, has_tool_result: true }, reply: { text: then } },
    { when: { last_user_contains: asked }, reply: { tool_calls: [{ name, arguments: args }] } },
  ];
}
