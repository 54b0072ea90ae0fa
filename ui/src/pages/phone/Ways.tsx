import { createSignal, createUniqueId, For, type JSX, Match, Show, Switch } from "solid-js";
import type { Reach } from "../../api/types";
import { Button } from "../../kit/Button";
import { CopyButton } from "../../kit/CopyButton";
import { Icon, type IconName } from "../../kit/Icon";
import { Tag } from "../../kit/small";
import { Visible } from "../../kit/Visible";
import {
  domainCommands,
  domainOf,
  example_domain,
  example_tailnet,
  networkCommand,
  tailscaleCommands,
} from "./commands";

export type Way = "tailscale" | "network" | "domain" | "here";

interface WaysProps {
  server: Reach;
  way: Way;
  onWay(way: Way): void;
  onTurnOn(): void;
  onAgain(): void;
}

/** The one that works soonest here. */
export function firstWay({ tailscale, network }: Reach): Way {
  return tailscale.state === "running" || network.candidates.length === 0 ? "tailscale" : "network";
}

/** What leads a phone to a server that it cannot reach yet, with what each way cannot do. */
export function Ways(props: WaysProps) {
  const tailscale = () => props.server.tailscale;
  const ways = (): { way: Way; title: string; icon: IconName; about: string; isFull?: boolean; isBest?: boolean }[] => [
    {
      way: "tailscale",
      title: "Tailscale",
      icon: "mesh",
      about: `Works anywhere. ${{ running: "Found on this computer.", stopped: "Installed, but not running.", missing: "Not installed on this computer." }[tailscale().state]}`,
      isFull: true,
      isBest: tailscale().state === "running",
    },
    {
      way: "network",
      title: "Same Wi-Fi",
      icon: "wifi",
      about: "Works at home. No account, one warning to accept.",
      isFull: false,
    },
    {
      way: "domain",
      title: "Your own domain",
      icon: "fetch",
      about: "A reverse proxy with a certificate, such as Caddy or nginx.",
      isFull: true,
    },
    {
      way: "here",
      title: "This computer only",
      icon: "devices",
      about: "Another browser on this computer, not a phone.",
    },
  ];
  const name = createUniqueId();
  return (
    <div role="radiogroup" aria-label="Ways to reach VoxPilot" class="ways">
      <For each={ways()}>
        {(one) => (
          <div class="way" classList={{ on: props.way === one.way }}>
            <label>
              <input
                type="radio"
                name={name}
                value={one.way}
                checked={props.way === one.way}
                onChange={() => props.onWay(one.way)}
              />
              <Icon name={one.icon} />
              <span class="grow">
                <b>{one.title}</b> <Show when={one.isBest}>{<Tag>recommended</Tag>}</Show>
                <small>{one.about}</small>
              </span>
              <Show when={one.isFull !== undefined}>
                <span class="way-facts">
                  <Fact holds={one.isFull ?? false}>Away from home</Fact>
                  <Fact holds={one.isFull ?? false}>Notifications</Fact>
                </span>
              </Show>
            </label>
            <Show when={props.way === one.way && one.way !== "here"}>
              <div class="way-body">
                <Switch>
                  <Match when={one.way === "tailscale"}>
                    <Tailscale {...props} />
                  </Match>
                  <Match when={one.way === "network"}>
                    <Network {...props} />
                  </Match>
                  <Match when={one.way === "domain"}>
                    <Domain {...props} />
                  </Match>
                </Switch>
              </div>
            </Show>
          </div>
        )}
      </For>
    </div>
  );
}

function Fact(props: { holds: boolean; children: JSX.Element }) {
  return (
    <span classList={{ holds: props.holds }}>
      <Icon name={props.holds ? "check" : "close"} size="tiny" />
      <span class="visually-hidden">{props.holds ? "Works:" : "Doesn’t work:"}</span> {props.children}
    </span>
  );
}

function Commands(props: { lines: string[] }) {
  return (
    <ul class="commands">
      <For each={props.lines}>
        {(line) => (
          <li>
            <code>
              <Visible text={line} />
            </code>
            <CopyButton label={`Copy ${line}`} text={() => line} />
          </li>
        )}
      </For>
    </ul>
  );
}

function Again(props: { onAgain(): void }) {
  return (
    <p>
      <Button small icon="retry" onClick={() => props.onAgain()}>
        Check again
      </Button>
    </p>
  );
}

function Tailscale(props: WaysProps) {
  const name = () => props.server.tailscale.name ?? undefined;
  return (
    <>
      <Switch>
        <Match when={name()}>
          {(known) => (
            <p>
              Tailscale is running on this computer as <code>{known().split(".")[0]}</code>. Install it on your phone
              with the same account. Stop VoxPilot here, then run these two commands:
            </p>
          )}
        </Match>
        <Match when={props.server.tailscale.state === "stopped"}>
          <p>Tailscale is installed on this computer but isn’t running. Start it, then check again:</p>
          <Commands lines={["sudo tailscale up"]} />
        </Match>
        <Match when={true}>
          <p>
            Install Tailscale on this computer and on your phone, with the same account:{" "}
            <a href="https://tailscale.com/download" target="_blank" rel="noreferrer">
              tailscale.com/download
            </a>
            . Then check again. You will run these two commands, with your computer’s name:
          </p>
        </Match>
      </Switch>
      <Show when={props.server.tailscale.state !== "stopped"}>
        <Commands lines={tailscaleCommands(props.server, name() ?? example_tailnet)} />
      </Show>
      <Show when={!name()}>
        <Again onAgain={props.onAgain} />
      </Show>
    </>
  );
}

function Network(props: WaysProps) {
  const reason = () => {
    if (!props.server.local_only) return "VoxPilot already listens on the network.";
    if (props.server.network.candidates.length === 0) return "This computer isn’t on a network right now.";
    return window.isSecureContext ? null : "You can turn it on only from this computer or over HTTPS.";
  };
  return (
    <>
      <Show when={props.server.network.missing}>
        {(missing) => (
          <p>
            It was turned on at <code>{missing()}</code>, which isn’t open now. It comes back when this computer has
            that address again.
          </p>
        )}
      </Show>
      <p>VoxPilot makes its own certificate. Your phone shows a warning once; compare the fingerprint, then accept.</p>
      <p class="way-action">
        <Show
          when={reason()}
          fallback={
            <Button kind="main" onClick={() => props.onTurnOn()}>
              Turn on…
            </Button>
          }
        >
          {(why) => <span>{why()}</span>}
        </Show>
        <span class="phone-hint">Or stop VoxPilot and start it yourself:</span>
      </p>
      <Commands lines={[networkCommand(props.server)]} />
    </>
  );
}

function Domain(props: WaysProps) {
  const [text, setText] = createSignal("");
  const id = createUniqueId();
  const isWrong = () => text().trim() !== "" && domainOf(text()) === null;
  return (
    <>
      <p>
        Point a proxy at port {props.server.port} and start VoxPilot with your name. Caddy gets a certificate by itself;
        nginx works too.
      </p>
      <label class="way-field" for={id}>
        Domain
        <input
          id={id}
          class="field"
          type="text"
          placeholder={example_domain}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={isWrong()}
          value={text()}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <Show when={isWrong()}>
        <p class="inline-error" role="alert">
          Enter a domain name such as {example_domain}.
        </p>
      </Show>
      <Commands lines={domainCommands(props.server, domainOf(text()) ?? example_domain)} />
      <Again onAgain={props.onAgain} />
    </>
  );
}
