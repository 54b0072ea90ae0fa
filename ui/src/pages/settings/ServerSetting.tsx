import { createSignal, type JSX, Match, Show, Switch } from "solid-js";
import type { Agent, Setting, SettingValue } from "../../api/types";
import { Button } from "../../kit/Button";
import { Icon } from "../../kit/Icon";
import { InlineError } from "../../kit/InlineError";
import { later } from "../../kit/later";
import { createSubmit } from "../../kit/submit";
import { Visible } from "../../kit/Visible";
import { visible } from "../../state/visible";
import { Select, Typed } from "./fields";
import { ModelChoice } from "./ModelChoice";
import {
  choiceText,
  numberText,
  shownValue,
  sourceText,
  typedLines,
  typedNumber,
  unitText,
  unsetText,
} from "./settingText";

const LinesDialog = later(async () => (await import("./LinesDialog")).LinesDialog);
const AutoDialog = later(async () => (await import("./AutoDialog")).AutoDialog);

export interface ServerSettingProps {
  setting: Setting;
  agents: Agent[];
  labelledBy: string;
  /** Null takes back what was chosen here. */
  onChange(value: SettingValue): Promise<void>;
}

/** The control of a setting of the server, and below it where the value comes from. */
export function ServerSetting(props: ServerSettingProps) {
  const { busy, error, submit } = createSubmit();
  const change = (value: SettingValue) => submit(() => props.onChange(value));
  const [confirming, setConfirming] = createSignal(false);
  /** What it goes back to may be Auto, which is confirmed as if it were chosen. */
  const reset = () => (isAuto(props.setting, props.setting.default) ? setConfirming(true) : void change(null));
  const confirmed = (value: string | null) => {
    setConfirming(false);
    if (value !== null) void change(value === props.setting.default ? null : value);
  };
  const control = () => ({ ...props, busy: busy(), invalid: error() !== null, change });
  return (
    <>
      <Show
        when={props.setting.changeable}
        fallback={
          <span class="setting-value">
            <Visible text={shownValue(props.setting)} />
          </span>
        }
      >
        <Switch fallback={<TextControl {...control()} />}>
          <Match when={props.setting.key === "model"}>
            <ModelChoice {...control()} />
          </Match>
          <Match when={props.setting.key === "agent"}>
            <AgentControl {...control()} />
          </Match>
          <Match when={props.setting.kind === "choice"}>
            <ChoiceControl {...control()} />
          </Match>
          <Match when={props.setting.kind === "number"}>
            <NumberControl {...control()} />
          </Match>
          <Match when={props.setting.kind === "list"}>
            <ListControl {...control()} />
          </Match>
        </Switch>
      </Show>
      <InlineError message={error()} />
      <Source setting={props.setting} busy={busy()} onReset={reset} />
      <Show when={confirming()}>
        <AutoDialog choices={props.setting.choices ?? []} onDone={confirmed} />
      </Show>
      <Show when={props.setting.restart}>
        <span class="setting-note">Takes effect after a restart.</span>
      </Show>
    </>
  );
}

const isAuto = (setting: Setting, value: unknown) =>
  setting.key === "permission_policy" && String(value ?? "").startsWith("auto");

/** Where the value comes from; what was set here can be reset. */
function Source(props: { setting: Setting; busy: boolean; onReset(): void }) {
  const origin = () => props.setting.origin;
  return (
    <span class="setting-source" title={origin().kind === "user" ? (origin().name ?? undefined) : undefined}>
      <Show when={props.setting.locked} fallback={<span>{sourceText(props.setting)}</span>}>
        <Icon name="lock" size="small" />
        <span>
          Set by <code>{origin().name}</code>
        </span>
      </Show>
      <Show when={!props.setting.changeable && origin().kind === "default"}>
        <code>{props.setting.variable}</code>
      </Show>
      <Show when={origin().kind === "here" && props.setting.changeable}>
        <button
          type="button"
          class="setting-reset"
          aria-label={`Reset ${props.setting.title}`}
          disabled={props.busy}
          onClick={() => props.onReset()}
        >
          Reset
        </button>
      </Show>
    </span>
  );
}

export interface ControlProps extends ServerSettingProps {
  busy: boolean;
  invalid: boolean;
  /** Tells whether it was taken. */
  change(value: SettingValue): Promise<boolean>;
}

function TextControl(props: ControlProps) {
  const given = () => (props.setting.value === null ? "" : String(props.setting.value));
  return (
    <Typed
      labelledBy={props.labelledBy}
      given={given()}
      disabled={props.setting.locked}
      invalid={props.invalid}
      placeholder={
        props.setting.effective === null ? unsetText(props.setting.key) : visible(String(props.setting.effective))
      }
      onSave={(text) => props.change(text.trim() || null)}
    />
  );
}

function NumberControl(props: ControlProps) {
  return (
    <span class="setting-number">
      <Typed
        labelledBy={props.labelledBy}
        given={numberText(props.setting, props.setting.effective)}
        disabled={props.setting.locked}
        invalid={props.invalid}
        placeholder={props.setting.effective === null ? "–" : ""}
        numeric
        onSave={(text) => props.change(text.trim() === "" ? null : (typedNumber(props.setting, text) ?? text.trim()))}
      />
      <span>
        {props.setting.effective === null
          ? unsetText(props.setting.key)
          : unitText(props.setting, props.setting.effective)}
      </span>
    </span>
  );
}

function ChoiceControl(props: ControlProps) {
  const [confirming, setConfirming] = createSignal<((taken: boolean) => void) | null>(null);
  const choose = (value: string): Promise<boolean> => {
    if (!isAuto(props.setting, value)) return props.change(value);
    return new Promise((done) => setConfirming(() => done));
  };
  const confirmed = async (value: string | null) => {
    const done = confirming();
    setConfirming(null);
    done?.(value !== null && (await props.change(value)));
  };
  return (
    <>
      <Select
        labelledBy={props.labelledBy}
        value={String(props.setting.effective ?? "")}
        disabled={props.setting.locked || props.busy}
        options={(props.setting.choices ?? []).map((value) => ({ value, text: choiceText(value) }))}
        onChoose={choose}
      />
      <Show when={confirming()}>
        <AutoDialog choices={props.setting.choices ?? []} onDone={(value) => void confirmed(value)} />
      </Show>
    </>
  );
}

function AgentControl(props: ControlProps) {
  const now = () => String(props.setting.effective ?? "");
  const options = () => {
    const known = props.agents.filter(({ id, installed }) => installed || id === now());
    const listed = known.map(({ id, title }) => ({ value: id, text: visible(title) }));
    return known.some(({ id }) => id === now()) ? listed : [{ value: now(), text: visible(now()) }, ...listed];
  };
  return (
    <Select
      labelledBy={props.labelledBy}
      value={now()}
      disabled={props.setting.locked || props.busy}
      options={options()}
      onChoose={(value) => props.change(value)}
    />
  );
}

function ListControl(props: ControlProps): JSX.Element {
  const [isOpen, setOpen] = createSignal(false);
  const lines = () => (Array.isArray(props.setting.value) ? (props.setting.value as string[]) : []);
  const count = () => (lines().length === 1 ? "1 entry" : `${lines().length || "No"} entries`);
  return (
    <>
      <Button aria-describedby={props.labelledBy} onClick={() => setOpen(true)}>
        {count()}
      </Button>
      <Show when={isOpen()}>
        <LinesDialog
          title={props.setting.title}
          about={props.setting.about}
          lines={lines()}
          isLocked={props.setting.locked}
          onSave={(text) => props.onChange(typedLines(text))}
          onClose={() => setOpen(false)}
        />
      </Show>
    </>
  );
}
