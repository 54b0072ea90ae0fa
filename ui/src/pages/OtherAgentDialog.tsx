import { Button } from "../kit/Button";
import { CopyButton } from "../kit/CopyButton";
import { Dialog } from "../kit/Dialog";

const section = `[agents.mine]
title = "My agent"
command = "my-agent"
args = ["--acp"]
`;

/** Programs are named on the server only: a page that could name one could run anything. */
export function OtherAgentDialog(props: { onClose(): void }) {
  return (
    <Dialog
      title="Add another agent"
      onClose={() => props.onClose()}
      foot={
        <Button kind="main" onClick={() => props.onClose()}>
          Done
        </Button>
      }
    >
      <p>
        Any program that speaks the Agent Client Protocol can be an agent. Add this to your <code>voxpilot.toml</code>{" "}
        on the server and restart VoxPilot. Programs can’t be added from a browser.
      </p>
      <div class="code-block">
        <pre tabindex="0">{section}</pre>
        <CopyButton text={() => section} label="Copy the lines" />
      </div>
      <p class="soft">
        <code>voxpilot config</code> prints where the file is.
      </p>
    </Dialog>
  );
}
