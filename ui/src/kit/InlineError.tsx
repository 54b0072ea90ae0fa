import { Show } from "solid-js";

export function InlineError(props: { message: string | null }) {
  return (
    <Show when={props.message}>
      {(message) => (
        <p class="inline-error" role="alert">
          {message()}
        </p>
      )}
    </Show>
  );
}
