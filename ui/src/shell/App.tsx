import { createSignal, Match, onMount, Switch } from "solid-js";
import { api, onSignedOut } from "../api/client";
import { insist, later } from "../kit/later";
import type { SignedOutReason } from "../pages/SignedOut";
import { Unreachable } from "../pages/Unreachable";
import { loadDevice } from "../state/device";
import { forgetFiles } from "../state/files";
import { checkKey, forgetKey } from "../state/key";
import { returnToPlace } from "../state/place";
import { forgetStored } from "../state/storage";
import { Cockpit, fetchScreen } from "./Cockpit";

const SignedOut = later(async () => (await import("../pages/SignedOut")).SignedOut);

/** The door: nothing is loaded before this page is known to the server as the one that its device belongs to. */
export function App() {
  returnToPlace();
  const [isIn, setIn] = createSignal(false);
  const [reason, setReason] = createSignal<SignedOutReason | null>(null);
  // The first reason is the right one: what follows is refused because of it.
  const leave = (why: SignedOutReason) => {
    if (reason() !== null) return;
    setReason(why);
    // A cookie that is of no use any more would only stand in the way of the next link.
    if (why === "other page") api.logout().catch(() => {});
  };
  onSignedOut((code) => leave(code === "key_required" ? "other page" : isIn() ? "ended" : "unknown"));
  onMount(async () => {
    fetchScreen();
    if ((await checkKey()) === "refused") return leave("other page");
    await loadDevice();
    setIn(true);
    const { lookAtPush, startWorker } = await insist(() => import("../state/push"));
    void startWorker();
    // Whoever signs out may have no network any more.
    void SignedOut.preload();
    void lookAtPush();
  });
  return (
    <Switch fallback={<Unreachable />}>
      <Match when={reason()}>{(why) => <SignedOut reason={why()} />}</Match>
      <Match when={isIn()}>
        <Cockpit
          onLeave={() => {
            leave("left");
            // Somebody who signs out leaves nothing behind, not even what was never sent.
            forgetKey();
            forgetStored();
            void forgetFiles();
          }}
        />
      </Match>
    </Switch>
  );
}
