import { onMount } from "solid-js";
import { Button } from "../kit/Button";
import { Logo } from "../kit/Icon";
import { keepPlace } from "../state/place";

export type SignedOutReason = "left" | "ended" | "other page" | "unknown";

const told: Record<SignedOutReason, { title: string; text: string }> = {
  left: { title: "Signed out", text: "This browser is no longer let in, and what it kept of VoxPilot’s is gone." },
  ended: {
    title: "This device was signed out",
    text: "It was revoked from another device, or had not been used for a long time.",
  },
  "other page": {
    title: "This browser has to sign in again",
    text: "What it kept to prove itself is gone or belongs to another page.",
  },
  unknown: { title: "This browser is not signed in", text: "It has to be let in first." },
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
          A code or a link is made on a device that is signed in, under “Devices”, or with <code>voxpilot link</code> on
          the machine that VoxPilot runs on. Each is good once, for a few minutes.
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
          placeholder="Paste it here"
          autocomplete="off"
        />
        <Button type="submit" kind="main">
          Sign in
        </Button>
      </form>
    </main>
  );
}
