// The forms that agents have people fill in: fields read from a JSON schema, and values as the schema wants them.

import type { FormContent, FormValue } from "../../api/types";

export interface Choice {
  value: string;
  label: string;
}

export interface FormField {
  name: string;
  label: string;
  description: string;
  kind: "text" | "number" | "switch" | "choice" | "choices";
  /** Of a text: the type of the input that fits its format. */
  input: "text" | "email" | "url" | "date" | "datetime-local" | "number";
  choices: Choice[];
  required: boolean;
  initial: FormValue | undefined;
  min: number | undefined;
  max: number | undefined;
  step: number | "any";
}

type Json = Record<string, unknown>;

function record(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

const formats: Record<string, FormField["input"]> = { email: "email", uri: "url", date: "date" };

export function readForm(schema: unknown): FormField[] {
  const form = record(schema);
  const required = Array.isArray(form.required) ? form.required : [];
  return Object.entries(record(form.properties)).map(([name, raw]) => readField(name, record(raw), required));
}

function readField(name: string, field: Json, required: unknown[]): FormField {
  const choices = readChoices(field) ?? (field.type === "array" ? readChoices(record(field.items)) : null) ?? [];
  const numeric = field.type === "number" || field.type === "integer";
  const kind = () => {
    if (field.type === "boolean") return "switch";
    if (field.type === "array") return "choices";
    if (numeric) return "number";
    return choices.length > 0 ? "choice" : "text";
  };
  return {
    name,
    label: text(field.title) || name,
    description: text(field.description),
    kind: kind(),
    input: numeric ? "number" : (formats[text(field.format)] ?? "text"),
    choices,
    required: required.includes(name),
    initial: field.default as FormValue | undefined,
    min: numeric ? number(field.minimum) : number(field.minLength),
    max: numeric ? number(field.maximum) : number(field.maxLength),
    step: field.type === "integer" ? 1 : "any",
  };
}

function readChoices(field: Json): Choice[] | null {
  if (Array.isArray(field.enum)) {
    const names = Array.isArray(field.enumNames) ? field.enumNames : [];
    return field.enum.map((value, index) => ({ value: String(value), label: text(names[index]) || String(value) }));
  }
  const titled = field.oneOf ?? field.anyOf;
  if (!Array.isArray(titled)) return null;
  return titled
    .map(record)
    .map((option) => ({ value: text(option.const), label: text(option.title) || text(option.const) }));
}

/** What the inputs of `form` hold. An optional field that was left empty is left out. */
export function readContent(fields: FormField[], form: HTMLFormElement): FormContent {
  const data = new FormData(form);
  const content: FormContent = {};
  for (const field of fields) {
    const value = data.get(field.name);
    if (field.kind === "switch") content[field.name] = value !== null;
    else if (field.kind === "choices") content[field.name] = data.getAll(field.name).map(String);
    else if (typeof value === "string" && value !== "")
      content[field.name] = field.kind === "number" ? Number(value) : value;
  }
  return content;
}
