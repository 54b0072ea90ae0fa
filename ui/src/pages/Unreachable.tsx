import { createSignal, For, onCleanup, onMount, Show } from "solid-js";
import { Logo } from "../kit/Icon";
import { Spinner } from "../kit/Spinner";
import { unsent } from "../state/outbox";

/** Shorter waits are not worth a word. */
const quiet_ms = 1_500;

/** The page is there and the server is not: it goes on by itself. */
export function Unreachable() {
  const [late, setLate] = createSignal(false);
  const [online, setOnline] = createSignal(navigator.onLine);
  const look = () => setOnline(navigator.onLine);
  onMount(() => {
    const timer = setTimeout(() => setLate(true), quiet_ms);
    window.addEventListener("online", look);
    window.addEventListener("offline", look);
    onCleanup(() => {
      clearTimeout(timer);
      window.removeEventListener("online", look);
      window.removeEventListener("offline", look);
    });
  });
  const waiting = unsent();
  return (
    <Show when={late()}>
      <main class="door">
        <Logo />
        <h1>{online() ? "The server cannot be reached" : "You are offline"}</h1>
        <p role="status">
          <Spinner /> Trying again. Your agents keep working.
        </p>
        <Show when={waiting.length > 0}>
          <section>
            <h2>Kept on this device until it can be sent</h2>
            <ul class="door-kept">
              <For each={waiting}>{(text) => <li>{text}</li>}</For>
            </ul>
          </section>
        </Show>
      </main>
    </Show>
  );
}
