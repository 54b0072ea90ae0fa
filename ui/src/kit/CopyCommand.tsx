import { createSignal } from "solid-js";
import { copyText } from "./copy";
import { Icon } from "./Icon";
import { Visible } from "./Visible";

/** A command for somebody to run in a terminal of their own. */
export function CopyCommand(props: { command: string }) {
  const [told, setTold] = createSignal("");
  const copy = () =>
    copyText(props.command).then(
      () => setTold("Copied."),
      () => setTold("Copying was blocked by the browser."),
    );
  return (
    <span class="copy-command">
      <code>
        <Visible text={props.command} />
      </code>
      <button type="button" class="button small" aria-label={`Copy ${props.command}`} onClick={() => void copy()}>
        <Icon name="copy" /> Copy
      </button>
      <span role="status">{told()}</span>
    </span>
  );
}
