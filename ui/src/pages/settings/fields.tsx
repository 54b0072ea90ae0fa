// The fields of the settings page.

import { createSignal, For } from "solid-js";
import { Icon } from "../../kit/Icon";

interface TypedProps {
  labelledBy: string;
  given: string;
  disabled: boolean;
  invalid: boolean;
  placeholder: string;
  numeric?: boolean;
  /** Tells whether it was taken; what was refused stays to be corrected. */
  onSave(text: string): Promise<boolean>;
}

/** A line that is saved by Enter and by leaving it; Escape takes back what was typed. */
export function Typed(props: TypedProps) {
  const [text, setText] = createSignal<string | null>(null);
  const now = () => text() ?? props.given;
  let isSaving = false;
  const save = async () => {
    const typed = now();
    if (isSaving) return;
    if (typed.trim() === props.given) return void setText(null);
    isSaving = true;
    if (await props.onSave(typed)) setText((newer) => (newer === typed ? null : newer));
    isSaving = false;
  };
  return (
    <input
      class="field"
      aria-labelledby={props.labelledBy}
      aria-invalid={props.invalid}
      inputMode={props.numeric ? "decimal" : "text"}
      autocomplete="off"
      spellcheck={false}
      placeholder={props.placeholder}
      disabled={props.disabled}
      value={now()}
      onInput={(event) => setText(event.currentTarget.value)}
      onBlur={() => void save()}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.isComposing) void save();
        if (event.key === "Escape" && text() !== null) {
          event.stopPropagation();
          setText(null);
        }
      }}
    />
  );
}

interface SelectProps {
  labelledBy: string;
  value: string;
  disabled: boolean;
  options: { value: string; text: string }[];
  /** Tells whether it was taken; else the old choice stands. */
  onChoose(value: string): Promise<boolean>;
}

export function Select(props: SelectProps) {
  return (
    <span class="select">
      <select
        class="field"
        aria-labelledby={props.labelledBy}
        disabled={props.disabled}
        onChange={async ({ currentTarget }) => {
          if (!(await props.onChoose(currentTarget.value))) currentTarget.value = props.value;
        }}
      >
        <For each={props.options}>
          {({ value, text }) => (
            <option value={value} selected={value === props.value}>
              {text}
            </option>
          )}
        </For>
      </select>
      <Icon name="more" size="small" />
    </span>
  );
}
