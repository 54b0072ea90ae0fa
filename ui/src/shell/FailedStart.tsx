import { Show } from "solid-js";
import { Button, IconButton } from "../kit/Button";
import { insist } from "../kit/later";
import { Banner } from "../kit/small";
import { Visible } from "../kit/Visible";
import { capital, failedStart, setFailedStart } from "../state/failedStart";
import { focusComposer } from "./keyboard";

/** Why the session did not start, and what leads on. */
export function FailedStart(props: { onModel(model: string): void }) {
  const add = async (model: string) => {
    const { openMainAi } = await insist(() => import("../pages/settings/openMainAi"));
    openMainAi({
      model,
      isWriting: true,
      onAdded: (added) => {
        setFailedStart(null);
        props.onModel(added);
      },
    });
  };
  return (
    <Show when={failedStart()}>
      {(failed) => (
        <div class="dock-banner" role="alert">
          <Banner
            status="failed"
            icon="warning"
            actions={
              <>
                <Show when={failed().model}>
                  {(model) => (
                    <Button small onClick={() => void add(model())}>
                      Add a main AI
                    </Button>
                  )}
                </Show>
                <IconButton
                  icon="close"
                  label="Dismiss"
                  onClick={() => {
                    setFailedStart(null);
                    focusComposer();
                  }}
                />
              </>
            }
          >
            <b>The session didn’t start.</b> <Visible text={capital(failed().text)} />
          </Banner>
        </div>
      )}
    </Show>
  );
}
