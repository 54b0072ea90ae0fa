import { For, Match, Show, Switch } from "solid-js";
import { Visible } from "./Visible";

/** A JSON value for people: names and values where it is simple, indented text where it is not. */
export function Fields(props: { value: unknown }) {
  const entries = () => {
    const { value } = props;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : null;
  };
  return (
    <Show when={entries()} fallback={<Value value={props.value} />}>
      {(pairs) => (
        <dl class="fields">
          <For each={pairs()}>
            {([name, value]) => (
              <div>
                <dt>
                  <Visible text={name} />
                </dt>
                <dd>
                  <Value value={value} />
                </dd>
              </div>
            )}
          </For>
        </dl>
      )}
    </Show>
  );
}

function Value(props: { value: unknown }) {
  const simple = () => {
    const { value } = props;
    if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.join(", ");
    return typeof value === "object" && value !== null ? null : String(value);
  };
  return (
    <Switch
      fallback={
        <pre class="tool-output">
          <Visible text={JSON.stringify(props.value, null, 2) ?? ""} />
        </pre>
      }
    >
      <Match when={simple() !== null && (simple()?.includes("\n") ?? false)}>
        <pre class="tool-output">
          <Visible text={simple() ?? ""} />
        </pre>
      </Match>
      <Match when={simple() !== null}>
        <span>
          <Visible text={simple() ?? ""} />
        </span>
      </Match>
    </Switch>
  );
}
