import { createSignal, For } from "solid-js";
import { Button } from "../../kit/Button";
import { Dialog } from "../../kit/Dialog";

interface AutoDialogProps {
  /** The policies that the server knows. */
  choices: string[];
  /** With the policy that was confirmed, or null. */
  onDone(policy: string | null): void;
}

const autos: Record<string, [title: string, note: string]> = {
  auto: ["Protected files still wait for you", "An unattended task can stand still until you answer."],
};
const including: [string, string] = [
  "Including protected files",
  "Such as .env, .git and the settings of editors and agents.",
];

/** Auto for all sessions is confirmed once. */
export function AutoDialog(props: AutoDialogProps) {
  const policies = () => props.choices.filter((choice) => choice.startsWith("auto"));
  const [policy, setPolicy] = createSignal("auto");
  return (
    <Dialog
      title="Run everything without asking?"
      onClose={() => props.onDone(null)}
      foot={
        <>
          <Button onClick={() => props.onDone(null)}>Cancel</Button>
          <Button kind="main" onClick={() => props.onDone(policy())}>
            Turn on Auto
          </Button>
        </>
      }
    >
      <p class="soft">
        Agents in <b>all sessions of this server</b> run commands and change files without asking you.
      </p>
      <fieldset class="kinds">
        <legend class="visually-hidden">Protected files</legend>
        <For each={policies()}>
          {(value) => {
            const [title, note] = autos[value] ?? including;
            return (
              <label>
                <input
                  type="radio"
                  name="auto"
                  value={value}
                  checked={value === policy()}
                  onChange={() => setPolicy(value)}
                />
                <span>
                  <strong>{title}</strong> <small>{note}</small>
                </span>
              </label>
            );
          }}
        </For>
      </fieldset>
    </Dialog>
  );
}
