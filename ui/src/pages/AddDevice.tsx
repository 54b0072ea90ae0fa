import { batch, createEffect, createMemo, createSignal, For, Match, onMount, Show, Switch } from "solid-js";
import { Portal } from "solid-js/web";
import { pagesApi } from "../api/pages";
import type { Device, DeviceKind, DeviceLink, Reach, ReachAddress } from "../api/types";
import { Button } from "../kit/Button";
import { CopyCommand } from "../kit/CopyCommand";
import { Icon } from "../kit/Icon";
import { InlineError } from "../kit/InlineError";
import { Spinner } from "../kit/Spinner";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import { firewallCommand } from "./phone/commands";
import { Pairing } from "./phone/Pairing";
import "./phone/phone.css";
import { createReach } from "./phone/reach";
import { TurnOnDialog } from "./phone/TurnOnDialog";
import { firstWay, type Way, Ways } from "./phone/Ways";

const kinds: [DeviceKind, string, string][] = [
  ["full", "Full access", "can do everything that you can"],
  ["read-only", "Watch only", "sees everything, but can’t send or approve"],
];

interface AddDeviceProps {
  /** Those that are signed in, kept fresh. */
  devices: Device[];
  /** What surrounds it has a way to close it. */
  isInline?: boolean;
  onClose(): void;
}

/** Adds a phone or another device: first a way that it can reach, then a link, and the news that it has come. */
export function AddDevice(props: AddDeviceProps) {
  const reach = createReach(location.hostname);
  const [kind, setKind] = createSignal<DeviceKind>("full");
  const [way, setWay] = createSignal<Way>();
  const [isTurningOn, setTurningOn] = createSignal(false);
  const [link, setLink] = createSignal<DeviceLink | null>(null);
  /** Who was there before the link was. */
  const [before, setBefore] = createSignal<string[]>([]);
  const { busy, error, submit } = createSubmit();
  onMount(() => void reach.look());
  const make = (address?: ReachAddress) =>
    submit(async () => {
      const known = props.devices.map(({ id }) => id);
      const made = await pagesApi.makeLink(kind(), address?.url);
      batch(() => {
        setBefore(known);
        setLink(made);
      });
    });
  const standing = reach.standing;
  const answering = () => {
    const now = standing();
    return now.kind === "answers" ? now : null;
  };
  const silent = () => {
    const now = standing();
    return now.kind === "silent" ? now : null;
  };
  const waysOf = (): Reach | false => standing().kind === "ways" && (reach.view() ?? false);
  createEffect(() => {
    const view = reach.view();
    if (view && way() === undefined) setWay(firstWay(view));
  });
  /** Who has come stays told, also when it is revoked at once. */
  const arrived = createMemo<Device | undefined>((known) =>
    link() === null ? undefined : (known ?? props.devices.find(({ id }) => !before().includes(id))),
  );
  const turnOff = () => submit(() => reach.turnOff());
  const close = () => (
    <Show when={!props.isInline}>
      <Button onClick={() => props.onClose()}>Cancel</Button>
    </Show>
  );
  const choice = (address?: ReachAddress) => (
    <>
      <Kinds kind={kind()} onKind={setKind} />
      <div class="add-actions">
        <Button kind="main" disabled={busy()} onClick={() => void make(address)}>
          Make a link
        </Button>
        {close()}
      </div>
    </>
  );
  return (
    <section class="add-device" aria-label="Add a device">
      <h3>Add a phone or another device</h3>
      <Switch>
        <Match when={arrived()}>
          {(device) => (
            <p class="arrived" role="status">
              <Icon name="check" />
              <span>
                “<Visible text={device().name} />” is signed in.
              </span>
              <Button small onClick={() => props.onClose()}>
                Done
              </Button>
            </p>
          )}
        </Match>
        <Match when={link()}>
          {(made) => (
            <Pairing link={made()} onAgain={() => void make(answering()?.address)} onClose={() => props.onClose()} />
          )}
        </Match>
        <Match when={standing().kind === "looking"}>
          <p class="phone-status" role="status">
            <Spinner /> Looking for ways in…
          </p>
        </Match>
        <Match when={standing().kind === "checking"}>
          <p class="phone-status" role="status">
            <Spinner /> <Checking standing={standing()} />
          </p>
          <Button onClick={() => reach.showWays()}>Choose another way</Button>
        </Match>
        <Match when={answering()}>
          {(now) => (
            <>
              <Show when={now().address} keyed>
                {(address) => (
                  <p class="phone-status">
                    <Icon name="check" />
                    <span>
                      <code>{address.url}</code> answers.
                      <Show when={address.url.startsWith("http:")}>
                        {" "}
                        It isn’t encrypted: others on the network can read the traffic.
                      </Show>
                    </span>
                    <Show when={address.url === reach.view()?.network.url}>
                      <Button small kind="quiet" disabled={busy()} onClick={() => void turnOff()}>
                        Turn off
                      </Button>
                    </Show>
                    <Button small kind="quiet" onClick={() => reach.showWays()}>
                      Other ways
                    </Button>
                  </p>
                )}
              </Show>
              {choice(now().address)}
            </>
          )}
        </Match>
        <Match when={silent()}>
          {(now) => (
            <>
              <p class="phone-notice bad" role="alert">
                <Icon name="warning" />
                <span>
                  <b>The address doesn’t answer.</b> <Visible text={now().problem} />
                </span>
              </p>
              <Show when={now().address.kind === "network" && reach.view()}>
                {(view) => (
                  <p>
                    A firewall may block it. Allow the port, then check again:{" "}
                    <CopyCommand command={firewallCommand(view())} />
                  </p>
                )}
              </Show>
              <div class="add-actions">
                <Button kind="main" onClick={() => void reach.look()}>
                  Check again
                </Button>
                <Button onClick={() => reach.showWays()}>Choose another way</Button>
                <Show when={now().address.url === reach.view()?.network.url}>
                  <Button kind="quiet" disabled={busy()} onClick={() => void turnOff()}>
                    Turn off again
                  </Button>
                </Show>
              </div>
            </>
          )}
        </Match>
        <Match when={waysOf()}>
          {(view) => (
            <>
              <p class="phone-notice">
                <Icon name="info" />
                <span>
                  <b>A phone can’t reach this address yet.</b> VoxPilot listens on <code>{view().listens}</code>
                  {view().local_only ? ", which only this computer can open" : ""}. Pick a way in:
                </span>
              </p>
              <Ways
                server={view()}
                way={way() ?? firstWay(view())}
                onWay={setWay}
                onTurnOn={() => setTurningOn(true)}
                onAgain={() => void reach.look()}
              />
              <Show when={way() === "here"} fallback={<div class="add-actions">{close()}</div>}>
                {choice()}
              </Show>
            </>
          )}
        </Match>
        <Match when={standing().kind === "failed"}>
          <Failed standing={standing()} />
          <div class="add-actions">
            <Button onClick={() => void reach.look()}>Try again</Button>
            {close()}
          </div>
        </Match>
      </Switch>
      <InlineError message={error()} />
      <Show when={isTurningOn() && reach.view()}>
        {(view) => (
          <Portal>
            <TurnOnDialog
              server={view()}
              onTurnOn={async (address) => {
                await reach.turnOn(address);
                const now = answering();
                if (now) void make(now.address);
              }}
              onClose={() => setTurningOn(false)}
            />
          </Portal>
        )}
      </Show>
    </section>
  );
}

function Checking(props: { standing: ReturnType<ReturnType<typeof createReach>["standing"]> }) {
  const url = () => (props.standing.kind === "checking" ? props.standing.address.url : "");
  return (
    <span>
      Checking that <code>{url()}</code> answers…
    </span>
  );
}

function Failed(props: { standing: ReturnType<ReturnType<typeof createReach>["standing"]> }) {
  return <InlineError message={props.standing.kind === "failed" ? props.standing.error : null} />;
}

function Kinds(props: { kind: DeviceKind; onKind(kind: DeviceKind): void }) {
  return (
    <fieldset class="kinds">
      <legend class="visually-hidden">What it may do</legend>
      <For each={kinds}>
        {([value, label, about]) => (
          <label>
            <input
              type="radio"
              name="device-kind"
              value={value}
              checked={value === props.kind}
              onChange={() => props.onKind(value)}
            />
            <span>
              <strong>{label}</strong> {about}
            </span>
          </label>
        )}
      </For>
    </fieldset>
  );
}
