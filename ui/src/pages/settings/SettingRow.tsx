import { createUniqueId, type JSX, Show } from "solid-js";
import { foundAs, type SettingsRow } from "./rows";

interface SettingRowProps {
  row: SettingsRow;
  /** What was searched for; then the row names its section. */
  query?: string;
}

/** One setting: its name and meaning, and beside that its control. */
export function SettingRow(props: SettingRowProps) {
  const id = createUniqueId();
  const also = () => (props.query ? foundAs(props.row, props.query) : null);
  return (
    <li class="setting" data-key={props.row.key}>
      <div class="setting-name">
        <b id={id}>
          <Marked text={props.row.title} query={props.query} />
        </b>
        <span>
          <Show when={props.query}>
            <em>{props.row.section}</em>
            {" · "}
          </Show>
          <Show when={also()} fallback={<Marked text={props.row.about} query={props.query} />}>
            {(word) => (
              <>
                Also found as: <Marked text={word()} query={props.query} />
              </>
            )}
          </Show>
        </span>
      </div>
      <div class="setting-control">
        <props.row.Control labelledBy={id} />
      </div>
    </li>
  );
}

/** A text in which what was searched for stands out. */
function Marked(props: { text: string; query?: string | undefined }): JSX.Element {
  const at = () => (props.query ? props.text.toLowerCase().indexOf(props.query.toLowerCase()) : -1);
  return (
    <Show when={at() >= 0} fallback={props.text}>
      {props.text.slice(0, at())}
      <mark>{props.text.slice(at(), at() + (props.query?.length ?? 0))}</mark>
      {props.text.slice(at() + (props.query?.length ?? 0))}
    </Show>
  );
}
