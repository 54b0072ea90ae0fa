import { createSignal, onCleanup } from "solid-js";
import { IconButton } from "./Button";
import { copyText } from "./copy";

/** Copies a text and says so for a moment. */
export function CopyButton(props: { text: () => string; label: string }) {
  const [told, setTold] = createSignal<"Copied" | "Not copied" | null>(null);
  let timer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(timer));
  const tell = (what: "Copied" | "Not copied") => {
    setTold(what);
    clearTimeout(timer);
    timer = setTimeout(() => setTold(null), 1_500);
  };
  return (
    <IconButton
      class="copy-button"
      icon={told() === "Copied" ? "check" : told() ? "warning" : "copy"}
      label={told() ?? props.label}
      onClick={() =>
        copyText(props.text()).then(
          () => tell("Copied"),
          () => tell("Not copied"),
        )
      }
    />
  );
}
