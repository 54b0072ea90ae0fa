import { createSignal, Show } from "solid-js";
import type { Device } from "../api/types";
import { watchesOnly } from "../state/device";
import { visible } from "../state/visible";
import { Icon } from "./Icon";
import { InlineEdit } from "./InlineEdit";
import { InlineError } from "./InlineError";
import { createSubmit } from "./submit";
import { ago } from "./time";
import { Visible } from "./Visible";

interface DeviceRowProps {
  device: Device;
  onRename(name: string): Promise<void>;
  onRevoke(): Promise<void>;
}

/** One device that is let in. */
export function DeviceRow(props: DeviceRowProps) {
  const [renaming, setRenaming] = createSignal(false);
  const [sure, setSure] = createSignal(false);
  const { busy, error, submit } = createSubmit();
  const name = () => visible(props.device.name);
  return (
    <li class="device">
      <div class="device-about">
        <Show
          when={!renaming()}
          fallback={
            <InlineEdit
              label="Name of the device"
              value={props.device.name}
              onSave={(value) => {
                setRenaming(false);
                void submit(() => props.onRename(value));
              }}
              onCancel={() => setRenaming(false)}
            />
          }
        >
          <span class="device-name">
            <Visible text={props.device.name} />
          </span>
        </Show>
        <span class="device-meta">
          <Show when={props.device.current}>
            <span class="badge running">this device</span>
          </Show>
          <Show when={props.device.kind === "read-only"}>
            <span class="badge">can only watch</span>
          </Show>
          <span>
            used {ago(props.device.last_used_at)}
            {props.device.address ? `, from ${props.device.address}` : ""}
          </span>
        </span>
      </div>
      <Show when={!watchesOnly() && !renaming()}>
        <Show
          when={sure()}
          fallback={
            <span class="device-actions">
              <button
                type="button"
                class="icon-button"
                aria-label={`Rename ${name()}`}
                onClick={() => setRenaming(true)}
              >
                <Icon name="edit" />
              </button>
              <Show when={!props.device.current}>
                <button
                  type="button"
                  class="button small danger"
                  aria-label={`Revoke ${name()}`}
                  onClick={() => setSure(true)}
                >
                  Revoke
                </button>
              </Show>
            </span>
          }
        >
          <fieldset class="device-sure">
            <legend>Shut it out at once?</legend>
            <button
              type="button"
              class="button small danger"
              disabled={busy()}
              ref={(element) => queueMicrotask(() => element.focus())}
              onClick={() => void submit(() => props.onRevoke())}
            >
              Revoke
            </button>
            <button type="button" class="button small" disabled={busy()} onClick={() => setSure(false)}>
              Keep it
            </button>
          </fieldset>
        </Show>
      </Show>
      <InlineError message={error()} />
    </li>
  );
}
