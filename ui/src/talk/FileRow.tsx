import { Show } from "solid-js";
import type { AskedFile } from "../api/types";
import { placeText } from "./askText";
import { PathText } from "./PathText";

/** A file that a request names, and where it lies if that is not in the work directory like any other. */
export function FileRow(props: { file: AskedFile }) {
  return (
    <li>
      <PathText text={props.file.path} />
      <Show when={placeText[props.file.place]}>
        {(words) => (
          <>
            {" "}
            <span class="tag bad">{words()}</span>
          </>
        )}
      </Show>
    </li>
  );
}
