import { createSignal, Show } from "solid-js";
import { list } from "../../api/list";
import type { Model } from "../../api/types";
import { modelTitle } from "../../shell/Pills";
import { Select, Typed } from "./fields";
import type { ControlProps } from "./ServerSetting";

const relay = "relay";
/** No model is called so: names have no line breaks. */
const other = "\n";

/** The model of new sessions: from the provider's list, or by its name. */
export function ModelChoice(props: ControlProps) {
  const [models, setModels] = createSignal<Model[]>([]);
  const [isTyping, setTyping] = createSignal(false);
  list.models().then(
    (found) => setModels(found.models),
    () => {
      // The one that is chosen and the relay are there in any case.
    },
  );
  const now = () => String(props.setting.effective ?? relay);
  const options = () => {
    const names = new Set([now(), relay, ...models().map(({ id }) => id)]);
    const listed = [...names].map((value) => ({ value, text: modelTitle(value) }));
    return [...listed, { value: other, text: "Another model, by name…" }];
  };
  const save = async (name: string) => {
    const taken = await props.change(name.trim() || null);
    if (taken) setTyping(false);
    return taken;
  };
  return (
    <Show
      when={isTyping()}
      fallback={
        <Select
          labelledBy={props.labelledBy}
          value={now()}
          disabled={props.setting.locked || props.busy}
          options={options()}
          onChoose={async (value) => {
            if (value !== other) return props.change(value);
            setTyping(true);
            return false;
          }}
        />
      }
    >
      <Typed
        labelledBy={props.labelledBy}
        given={now()}
        disabled={false}
        invalid={props.invalid}
        placeholder="Name of the model"
        onSave={save}
      />
    </Show>
  );
}
