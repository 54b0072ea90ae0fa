import { For, Show } from "solid-js";
import { Dialog } from "../kit/Dialog";

interface Keys {
  /** Where they work, if not everywhere. */
  where?: string;
  /** Keys of one press with blanks between them, other ways to press behind a comma. */
  list: [keys: string, does: string][];
}

const groups: Keys[] = [
  {
    list: [
      ["Enter", "Send"],
      ["Shift Enter", "New line"],
      ["Ctrl K", "Find a session, an action, a file"],
      ["Ctrl F", "Find in this conversation"],
      ["Ctrl Shift O", "New session"],
      ["Ctrl Shift D", "Changes"],
      ["Esc", "Close what is open"],
      ["Esc Esc", "Stop the turn"],
      ["Alt ↑, Alt ↓", "Previous, next session"],
      ["Alt N", "Next that needs you"],
      ["↑", "Edit the last queued message"],
      ["/", "Write a message"],
      ["?", "This list"],
    ],
  },
  {
    where: "In a question",
    list: [
      ["Enter", "Allow"],
      ["A", "Always"],
      ["1, 2, 3", "Choose the scope"],
      ["D", "Deny"],
    ],
  },
  {
    where: "In review",
    list: [
      ["J, K", "Next, previous file"],
      ["N, P", "Next, previous change"],
      ["V", "Viewed"],
      ["C", "Comment"],
      ["Ctrl Enter", "Send"],
    ],
  },
];

/** The keys that there are. */
export default function Help(props: { onClose(): void }) {
  return (
    <Dialog title="Keyboard shortcuts" class="keys-dialog" onClose={props.onClose}>
      {/* Where it is longer than the screen it is scrolled by keys too. */}
      <div class="keys" tabindex="0" role="group" aria-label="Keyboard shortcuts">
        <For each={groups}>
          {(group) => (
            <section>
              <Show when={group.where}>{(where) => <h3>{where()}</h3>}</Show>
              <dl>
                <For each={group.list}>
                  {([keys, does]) => (
                    <div>
                      <dt>
                        <For each={keys.split(", ")}>{(press) => <Press keys={press} />}</For>
                      </dt>
                      <dd>{does}</dd>
                    </div>
                  )}
                </For>
              </dl>
            </section>
          )}
        </For>
      </div>
      <p class="mute">Single letters work only when no field has focus, ↑ only in an empty composer.</p>
    </Dialog>
  );
}

function Press(props: { keys: string }) {
  return (
    <span class="press">
      <For each={props.keys.split(" ")}>
        {(key) => (
          <>
            <kbd>{key}</kbd>{" "}
          </>
        )}
      </For>
    </span>
  );
}
