import { createMemo, createSignal, Show } from "solid-js";
import { CopyButton } from "../../kit/CopyButton";
import { Visible } from "../../kit/Visible";

const tail_lines = 8;
/** More than this at once makes the page slow; the rest can be copied. */
const most_units = 64_000;

/** What a call printed: its last lines, and all of it for whoever asks. */
export function OutputText(props: { text: string; running: boolean }) {
  const [all, setAll] = createSignal(false);
  const lines = createMemo(() => props.text.trimEnd().split("\n"));
  const hidden = () => (all() ? 0 : Math.max(0, lines().length - tail_lines));
  const shown = createMemo(() => {
    const text = hidden() > 0 ? lines().slice(-tail_lines).join("\n") : props.text.trimEnd();
    return text.length > most_units ? `…${text.slice(-most_units)}` : text;
  });
  return (
    <div class="output">
      <Show when={hidden() > 0}>
        <button type="button" class="fold-more" onClick={() => setAll(true)}>
          Show all {lines().length} lines
        </button>
      </Show>
      <div class="agent-output" tabindex="0" role="group" aria-label="Output">
        <Visible text={shown()} />
      </div>
      <CopyButton label="Copy output" text={() => props.text} />
    </div>
  );
}
