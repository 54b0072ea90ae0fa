import { Show } from "solid-js";
import { pagesApi } from "../api/pages";
import type { Agent } from "../api/types";
import { Button } from "../kit/Button";
import { CopyCommand } from "../kit/CopyCommand";
import { Dialog } from "../kit/Dialog";
import { InlineError } from "../kit/InlineError";
import { createSubmit } from "../kit/submit";
import { visible } from "../state/visible";

interface InstallDialogProps {
  agent: Agent;
  install: NonNullable<Agent["install"]>;
  onChanged(agent: Agent): void;
  onClose(): void;
}

/** That something is downloaded and run is asked for in so many words. */
export function InstallDialog(props: InstallDialogProps) {
  const { busy, error, submit } = createSubmit();
  const name = () => visible(props.agent.title);
  const run = async (call: () => Promise<Agent>) => {
    if (await submit(async () => props.onChanged(await call()))) props.onClose();
  };
  const install = () => run(() => pagesApi.installAgent(props.agent.id));
  const useNpx = () => run(() => pagesApi.allowNpx(props.agent.id, true));
  return (
    <Dialog
      title={props.install.command ? `Install ${name()} on the server?` : `Run ${name()} with npx?`}
      onClose={() => props.onClose()}
      foot={
        <>
          <Button kind="quiet" onClick={() => props.onClose()}>
            Cancel
          </Button>
          <Show when={props.install.npx}>
            <Button kind={props.install.command ? undefined : "main"} disabled={busy()} onClick={() => void useNpx()}>
              Run with npx
            </Button>
          </Show>
          <Show when={props.install.command}>
            <Button kind="main" disabled={busy()} onClick={() => void install()}>
              Install
            </Button>
          </Show>
        </>
      }
    >
      <Show when={props.install.command}>
        {(command) => (
          <>
            <p>VoxPilot runs this command as its own user:</p>
            <p>
              <CopyCommand command={command()} />
            </p>
          </>
        )}
      </Show>
      <Show when={props.install.npx}>
        <p class="soft">
          npx installs nothing. It downloads the package from npm when the agent starts, the first time with your next
          message.
        </p>
      </Show>
      <InlineError message={error()} />
    </Dialog>
  );
}
