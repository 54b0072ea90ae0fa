import { createSignal, createUniqueId, Show } from "solid-js";
import type { Setting, SettingValue } from "../api/types";
import { Button, IconButton } from "../kit/Button";
import { Icon } from "../kit/Icon";
import { InlineError } from "../kit/InlineError";
import { Seg, Tag } from "../kit/small";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import { choiceText, lockText, originText, shownValue, typedValue } from "./settingText";

interface SettingRowProps {
  setting: Setting;
  onChange(value: SettingValue): Promise<void>;
}

/** One setting: its name and meaning, its value, and where that came from. */
export function SettingRow(props: SettingRowProps) {
  const { busy, error, submit } = createSubmit();
  const id = createUniqueId();
  const change = (value: SettingValue) => submit(() => props.onChange(value));
  return (
    <li class="setting" data-key={props.setting.key}>
      <div class="setting-name">
        <b id={id}>{props.setting.title}</b>
        <span>{props.setting.about}</span>
      </div>
      <div class="setting-control">
        <Show
          when={lockText(props.setting)}
          fallback={<Control setting={props.setting} labelledBy={id} busy={busy()} onChange={change} />}
        >
          {(why) => (
            <>
              <code class="setting-value">
                <Visible text={shownValue(props.setting)} />
              </code>
              <span class="setting-lock">
                <Icon name="lock" size="small" /> {why()}
              </span>
            </>
          )}
        </Show>
        <Show when={props.setting.restart && props.setting.changeable}>
          <span class="setting-note">Takes effect when the server is next started.</span>
        </Show>
        <InlineError message={error()} />
      </div>
      <div class="setting-origin">
        <span title={props.setting.origin.name ?? undefined}>
          <Tag>{originText(props.setting)}</Tag>
        </span>
        <Show when={props.setting.origin.kind === "here"}>
          <IconButton
            icon="undo"
            label={`Take back what was chosen for ${props.setting.title}`}
            disabled={busy()}
            onClick={() => void change(null)}
          />
        </Show>
      </div>
    </li>
  );
}

interface ControlProps {
  setting: Setting;
  labelledBy: string;
  busy: boolean;
  /** Tells whether it was taken. */
  onChange(value: SettingValue): Promise<boolean>;
}

function Control(props: ControlProps) {
  const given = () => (props.setting.value === null ? "" : shownValue(props.setting));
  return (
    <Show when={props.setting.kind === "choice"} fallback={<Typed {...props} given={given()} />}>
      <Seg
        label={props.setting.title}
        choices={(props.setting.choices ?? []).map((value) => ({ value, text: choiceText(value) }))}
        value={given()}
        onChange={(value) => void props.onChange(value)}
      />
    </Show>
  );
}

/** A line, or one line for each part of a list. What is emptied goes back to what would hold otherwise. */
function Typed(props: ControlProps & { given: string }) {
  const [text, setText] = createSignal<string | null>(null);
  const now = () => text() ?? props.given;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const typed = now();
    // What was refused stays, to be mended.
    if (typed === props.given || (await props.onChange(typedValue(props.setting, typed)))) setText(null);
  };
  const common = () => ({
    class: "field",
    "aria-labelledby": props.labelledBy,
    spellcheck: false,
    value: now(),
    onInput: (event: InputEvent & { currentTarget: { value: string } }) => setText(event.currentTarget.value),
  });
  return (
    <form class="setting-form" onSubmit={(event) => void save(event)}>
      <Show
        when={props.setting.kind === "list"}
        fallback={
          <input
            {...common()}
            inputMode={props.setting.kind === "number" ? "numeric" : "text"}
            placeholder={props.setting.default == null ? "not set" : String(props.setting.default)}
            autocomplete="off"
          />
        }
      >
        <textarea
          {...common()}
          rows={Math.min(8, Math.max(2, now().split("\n").length))}
          placeholder="one on each line"
        />
      </Show>
      <Show when={props.busy || now() !== props.given}>
        <Button type="submit" kind="main" small disabled={props.busy}>
          Save
        </Button>
      </Show>
    </form>
  );
}
