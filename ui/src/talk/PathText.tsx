import { Visible } from "../kit/Visible";

/** A path that becomes a link when it is known to be a file: `viewer/chips` gives it its address. */
export function PathText(props: { text: string }) {
  return (
    // biome-ignore lint/a11y/useValidAnchor: without an address it is no link, only a place for one
    <a data-file={props.text}>
      <Visible text={props.text} />
    </a>
  );
}
