// Reads the free-form input and output of an agent's tool call: agents agree on little beyond JSON.

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

export function readCommand(input: unknown): string | null {
  const command = field(input, "command") ?? field(input, "cmd");
  if (typeof command === "string") return command;
  if (Array.isArray(command) && command.every((word) => typeof word === "string")) return command.join(" ");
  return null;
}

export function readOutput(output: unknown): string {
  if (typeof output === "string") return output.trimEnd();
  for (const name of ["content", "output", "formatted_output", "stdout", "message", "error"]) {
    const text = field(output, name);
    if (typeof text !== "string") continue;
    const errors = name === "stdout" ? field(output, "stderr") : "";
    return (typeof errors === "string" && errors !== "" ? `${text}\n${errors}` : text).trimEnd();
  }
  return "";
}

/** What is told to a model goes on with what is shown already. */
export function firstLine(text: string): string {
  return text.split("\n", 1)[0]?.trim() ?? "";
}

const compared_units = 200;

/** Whether a text tells again what was streamed, of which only the end may be kept; agents put words around it. */
export function repeats(stream: string, text: string): boolean {
  const end = stream.trim().slice(-compared_units);
  return end !== "" && (text.includes(end) || stream.includes(text.trim()));
}
