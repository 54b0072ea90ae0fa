/** Says nothing by itself: the words beside it do. */
export function Spinner() {
  return <span class="spinner" aria-hidden="true" />;
}
