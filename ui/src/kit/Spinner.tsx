import { Show } from "solid-js";

/** Without a label it is decoration beside words that say the same. */
export function Spinner(props: { label?: string }) {
  return (
    <Show when={props.label} fallback={<span class="spinner" aria-hidden="true" />}>
      <span class="spinner" role="img" aria-label={props.label} />
    </Show>
  );
}
