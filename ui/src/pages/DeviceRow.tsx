import { createSignal, Show } from "solid-js";
import type { Device } from "../api/types";
import { IconButton } from "../kit/Button";
import { Icon } from "../kit/Icon";
import { InlineEdit } from "../kit/InlineEdit";
import { InlineError } from "../kit/InlineError";
import { Tag } from "../kit/small";
import { createSubmit } from "../kit/submit";
import { ago } from "../kit/time";
import { Visible } from "../kit/Visible";
import { watchesOnly } from "../state/device";
import { visible } from "../state/visible";

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
      <Icon name="devices" />
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
            <Tag>this device</Tag>
          </Show>
          <Show when={props.device.kind === "read-only"}>
            <Tag>watch only</Tag>
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
              <IconButton icon="edit" label={`Rename ${name()}`} onClick={() => setRenaming(true)} />
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
            <legend>Revoke access now?</legend>
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
              Keep
            </button>
          </fieldset>
        </Show>
      </Show>
      <InlineError message={error()} />
    </li>
  );
}
