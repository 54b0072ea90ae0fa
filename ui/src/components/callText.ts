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
