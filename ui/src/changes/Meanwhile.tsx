import { createUniqueId, type JSX, Show } from "solid-js";
import type { MeanwhileChange } from "../api/types";
import { Icon } from "../kit/Icon";
import { Visible } from "../kit/Visible";
import { filesWords } from "./count";
import type { Review } from "./review";
import { meanwhile_title, writersWords } from "./words";
import "./meanwhile.css";

/** Something is said about a file of it and not sent yet: that must not be out of sight. */
export const isTalkedAbout = (review: Review): boolean =>
  review
    .meanwhile()
    .some(({ path }) => review.commentsOf(path).length > 0 || review.drafts.list.some((draft) => draft.path === path));

interface MeanwhileProps {
  files: MeanwhileChange[];
  isOpen: boolean;
  onOpen(isOpen: boolean): void;
  /** Drawn only while it is open. */
  children: JSX.Element;
}

/** What changed meanwhile and nobody of the session wrote, folded. */
export function Meanwhile(props: MeanwhileProps) {
  const id = createUniqueId();
  return (
    <section class="meanwhile" aria-labelledby={id}>
      <h3>
        <button type="button" aria-expanded={props.isOpen} onClick={() => props.onOpen(!props.isOpen)}>
          <Icon name={props.isOpen ? "more" : "next"} size="small" />
          <span id={id}>{meanwhile_title}</span>
          <span class="mute num">{filesWords(props.files.length)}</span>
        </button>
      </h3>
      <p class="mute">Not by this session. Not counted.</p>
      <Show when={props.isOpen}>{props.children}</Show>
    </section>
  );
}

/** Who else may have written it, where that is known. */
export function Writers(props: { file: MeanwhileChange }) {
  return (
    <Show when={writersWords(props.file)}>
      {(words) => (
        <span class="mute cut writers">
          <Visible text={words()} />
        </span>
      )}
    </Show>
  );
}
