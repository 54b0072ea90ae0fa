// Every part of the kit in every state, on one page: for whoever changes it, and for the tests that photograph it.

import { createSignal, For, type JSX, Show } from "solid-js";
import { Button, IconButton } from "./Button";
import { CopyButton } from "./CopyButton";
import { Dialog } from "./Dialog";
import { Icon, iconNames, Logo } from "./Icon";
import { InlineEdit } from "./InlineEdit";
import { InlineError } from "./InlineError";
import { Menu } from "./Menu";
import { MenuItem } from "./MenuList";
import { Spinner } from "./Spinner";
import { AgentMark, Banner, Dot, Kbd, PlusMinus, Ring, Seg, type Status, Switch, Tag } from "./small";
import { Toasts, tellUndoable } from "./toasts";

const statuses: Status[] = ["running", "waiting", "done", "failed", "interrupted", "unknown", "seen"];
const colours = ["rail", "canvas", "raised", "well", "hover", "pressed", "accent", "run", "wait", "ok", "bad"];
const sizes = ["12", "13", "15", "20"];

export function Gallery() {
  return (
    <main class="gallery">
      <h1>
        <Logo /> The kit
      </h1>
      <Part title="Colours">
        <For each={colours}>
          {(name) => (
            <span class="gallery-colour">
              <span class={`gallery-swatch ${name}`} /> {name}
            </span>
          )}
        </For>
      </Part>
      <Part title="Type">
        <For each={sizes}>{(size) => <p class={`gallery-type t${size}`}>{size} What should change?</p>}</For>
      </Part>
      <Part title="Buttons">
        <Button kind="main">Allow</Button>
        <Button>Always</Button>
        <Button kind="deny">Deny</Button>
        <Button kind="quiet">Review</Button>
        <Button small icon="plus">
          Add a device
        </Button>
        <Button disabled>Not now</Button>
        <Button kind="main" disabled>
          Send review
        </Button>
        <IconButton icon="settings" label="Settings" />
        <IconButton icon="bell" label="Notifications" aria-pressed="true" />
        <IconButton icon="trash" label="Delete" disabled />
        <CopyButton text={() => "copied"} label="Copy" />
      </Part>
      <Part title="Status">
        <For each={statuses}>
          {(status) => (
            <span>
              <Dot status={status} quiet /> {status}
            </span>
          )}
        </For>
        <Spinner />
        <PlusMinus additions={125} deletions={8} />
        <Ring part={0.7} label="70 % of the context is used" />
        <Tag>new</Tag>
        <Kbd keys="Ctrl K" />
      </Part>
      <Part title="Agents">
        <For each={["Copilot", "Codex", "Claude Code", "Gemini", "OpenCode"]}>
          {(agent) => (
            <span class="gallery-colour">
              <AgentMark agent={agent} /> {agent}
            </span>
          )}
        </For>
      </Part>
      <Choices />
      <Words />
      <Part title="Icons">
        <For each={iconNames()}>
          {(name) => (
            <span class="gallery-icon">
              <Icon name={name} />
              {name}
            </span>
          )}
        </For>
      </Part>
      <Toasts />
    </main>
  );
}

function Choices() {
  const [on, setOn] = createSignal(true);
  const [mode, setMode] = createSignal<"split" | "unified">("split");
  return (
    <Part title="Choices">
      <Switch label="Notifications" on={on()} onChange={setOn} />
      <Switch label="Off" on={false} onChange={() => {}} />
      <Switch label="Held by a flag" on={true} disabled onChange={() => {}} />
      <Seg
        label="View"
        choices={[
          { value: "split", text: "Split", icon: "split" },
          { value: "unified", text: "Unified", icon: "list" },
        ]}
        value={mode()}
        onChange={setMode}
      />
      <Menu
        label="Model"
        button={(button) => (
          <button type="button" class="pill" {...button}>
            gpt-4.1 <Icon name="more" size="tiny" />
          </button>
        )}
      >
        {(close) => (
          <>
            <p class="menu-heading">Model</p>
            <MenuItem chosen onChoose={close}>
              gpt-4.1
            </MenuItem>
            <MenuItem chosen={false} note="Slower, thinks longer" onChoose={close}>
              o4
            </MenuItem>
            <hr />
            <MenuItem icon="trash" danger end="Del" onChoose={close}>
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
      <input class="field gallery-field" aria-label="A field" placeholder="Describe a task" />
      <input class="field gallery-field" aria-label="A wrong field" aria-invalid="true" value="wrong" />
      <span class="gallery-field">
        <InlineEdit label="Title" value="Rate-limit the public API" onSave={() => {}} onCancel={() => {}} />
      </span>
    </Part>
  );
}

function Words() {
  const [open, setOpen] = createSignal(false);
  return (
    <Part title="Words">
      <Banner actions={<Button small>Continue</Button>}>
        <b>Interrupted.</b> The server went away in the middle of this turn.
      </Banner>
      <Banner status="waiting" icon="shield" actions={<Button small>Read it</Button>}>
        <b>This project brings settings of its own.</b> They do nothing until you agree.
      </Banner>
      <Banner status="failed" icon="warning">
        <b>Copilot is signed out.</b> Sign in to go on.
      </Banner>
      <InlineError message="The title is longer than 200 bytes." />
      <Button
        onClick={() =>
          tellUndoable(
            "Session deleted",
            () => {},
            () => {},
          )
        }
      >
        Show a toast
      </Button>
      <Button onClick={() => setOpen(true)}>Open a dialog</Button>
      <Show when={open()}>
        <Dialog
          title="Commit 4 files"
          foot={
            <>
              <Button onClick={() => setOpen(false)}>Cancel</Button>
              <Button kind="main" onClick={() => setOpen(false)}>
                Commit
              </Button>
            </>
          }
          onClose={() => setOpen(false)}
        >
          <p>What a dialog holds.</p>
        </Dialog>
      </Show>
    </Part>
  );
}

function Part(props: { title: string; children: JSX.Element }) {
  return (
    <section class="gallery-part">
      <h2>{props.title}</h2>
      <div>{props.children}</div>
    </section>
  );
}
