/** Without a label it is decoration beside words that say the same. */
export function Spinner(props: { label?: string }) {
  return (
    <span
      class="spinner"
      role={props.label ? "img" : undefined}
      aria-label={props.label}
      aria-hidden={props.label ? undefined : "true"}
    />
  );
}
