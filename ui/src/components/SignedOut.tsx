import { onMount } from "solid-js";

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
    <main class="signed-out">
      <h1>{told[props.reason].title}</h1>
      <p>{told[props.reason].text}</p>
      <form class="pairing" method="post" action="/login">
        <label for="pairing-code">Pairing code</label>
        <div class="pairing-row">
          <input
            id="pairing-code"
            name="code"
            required
            maxLength={12}
            placeholder="XXXX-XXXX"
            autocomplete="one-time-code"
            autocapitalize="characters"
            spellcheck={false}
          />
          <button type="submit" class="button primary">
            Sign in
          </button>
        </div>
      </form>
      <p>
        A code or a link is made on a device that is signed in, under “Devices”, or with <code>voxpilot link</code> on
        the machine that VoxPilot runs on. Each is good once, for a few minutes.
      </p>
    </main>
  );
}
