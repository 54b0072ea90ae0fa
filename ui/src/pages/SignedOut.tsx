import { onMount } from "solid-js";
import { Button } from "../kit/Button";
import { Logo } from "../kit/Icon";
import { keepPlace } from "../state/place";

export type SignedOutReason = "left" | "ended" | "other page" | "unknown";

const told: Record<SignedOutReason, { title: string; text: string }> = {
  left: { title: "Signed out", text: "You’re signed out. Local data was removed." },
  ended: {
    title: "This device was signed out",
    text: "It was revoked from another device, or not used for a long time. Sign in again.",
  },
  "other page": {
    title: "Sign in again",
    text: "This browser’s key is missing or belongs to another page.",
  },
  unknown: { title: "This browser isn’t signed in", text: "Sign in with a pairing code, a link or the access token." },
};

/** For a browser that is not let in: why, and how it gets in. */
export function SignedOut(props: { reason: SignedOutReason }) {
  onMount(() => {
    document.title = "VoxPilot";
  });
  return (
    <main class="door">
      <Logo />
      <h1>{told[props.reason].title}</h1>
      <p>{told[props.reason].text}</p>
      <form method="post" action="/login" onSubmit={keepPlace}>
        <label for="pairing-code">Pairing code</label>
        <input
          id="pairing-code"
          name="code"
          class="field door-code"
          maxLength={20}
          placeholder="XXXX-XXXX"
          autocomplete="one-time-code"
          autocapitalize="characters"
          spellcheck={false}
        />
        <p class="door-hint">
          Get a code or a link under “Devices” on a signed-in device, or run <code>voxpilot link</code> on the server’s
          machine. Each is single use and valid for a few minutes.
        </p>
        <div class="door-or">
          <span>or</span>
        </div>
        <label for="access-token">Access token</label>
        <input
          id="access-token"
          name="token"
          class="field"
          type="password"
          maxLength={512}
          placeholder="Paste the token"
          autocomplete="off"
        />
        <Button type="submit" kind="main">
          Sign in
        </Button>
      </form>
    </main>
  );
}
