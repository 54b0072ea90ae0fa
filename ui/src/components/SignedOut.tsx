export function SignedOut() {
  return (
    <main class="signed-out">
      <h1>This browser is not signed in</h1>
      <p>
        When VoxPilot starts, it prints a link in its terminal. Open that link in this browser: it lets you in, and the
        browser stays signed in from then on.
      </p>
      <p>If the link has scrolled away, start VoxPilot again: it prints the link each time.</p>
      <button type="button" class="button primary" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  );
}
