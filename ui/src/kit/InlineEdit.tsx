import { onMount } from "solid-js";

interface InlineEditProps {
  label: string;
  value: string;
  onSave(value: string): void;
  onCancel(): void;
}

/** A text in place of itself: Enter or leaving it saves, Escape does not. */
export function InlineEdit(props: InlineEditProps) {
  let input: HTMLInputElement | undefined;
  let over = false;
  onMount(() => {
    input?.focus();
    input?.select();
  });
  const finish = (save: boolean) => {
    if (over) return;
    over = true;
    const value = input?.value.trim() ?? "";
    if (save && value !== "" && value !== props.value) props.onSave(value);
    else props.onCancel();
  };
  return (
    <input
      ref={input}
      class="inline-edit"
      type="text"
      aria-label={props.label}
      value={props.value}
      maxLength={200}
      onBlur={() => finish(true)}
      onKeyDown={(event) => {
        if (event.isComposing) return;
        if (event.key === "Enter") finish(true);
        if (event.key === "Escape") {
          event.stopPropagation();
          finish(false);
        }
      }}
    />
  );
}
