import { createResource, Show } from "solid-js";
import { pagesApi } from "../../api/pages";
import type { Setting } from "../../api/types";
import { Button } from "../../kit/Button";
import { Icon } from "../../kit/Icon";
import { InlineError } from "../../kit/InlineError";
import { createSubmit } from "../../kit/submit";
import { visible } from "../../state/visible";
import { openMainAi } from "./openMainAi";
import { compatible, hostOf, providerText } from "./providers";
import { shownValue, sourceText } from "./settingText";

interface ProviderRowProps {
  setting: Setting;
  /** How often the settings were loaded: with each time it is asked again. */
  loads: number;
  onChanged(): Promise<void>;
}

/** Whom the model is asked of, and since when there is a key for it. */
export function ProviderRow(props: ProviderRowProps) {
  const { busy, error, submit } = createSubmit();
  // Its address is no value of this setting, so the settings may look the same with another one.
  const [known] = createResource(() => props.loads, pagesApi.mainAi);
  const view = () => (known.error === undefined ? known.latest : undefined);
  const current = () => view()?.current;
  const named = () => {
    const now = current();
    if (!now) return null;
    const name = providerText(now.provider ?? compatible);
    return now.base_url ? `${name} (${visible(hostOf(now.base_url))})` : name;
  };
  const added = () => {
    const now = current();
    if (!now?.added_at) return "";
    const day = new Date(now.added_at).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
    return `${now.has_key ? "Key added" : "Added"} ${day}${now.added_by ? ` from ${visible(now.added_by)}` : ""}`;
  };
  const forget = () =>
    submit(async () => {
      await pagesApi.forgetMainAi();
      await props.onChanged();
    });
  return (
    <>
      <Show
        when={named()}
        fallback={
          <>
            <span class="setting-value">{shownValue(props.setting)}</span>
            <span class="setting-source">
              <Show when={view()?.locked}>
                <Icon name="lock" size="small" />
              </Show>
              {view()?.locked ? `Set by ${view()?.locked}` : sourceText(props.setting)}
            </span>
          </>
        }
      >
        {(name) => (
          <>
            <span class="setting-provider">
              <span>{name()}</span>
              <Button small onClick={() => openMainAi({ onAdded: () => void props.onChanged() })}>
                Replace key
              </Button>
              <Button small kind="quiet" disabled={busy()} onClick={() => void forget()}>
                Remove
              </Button>
            </span>
            <span class="setting-source">{added()}</span>
          </>
        )}
      </Show>
      <InlineError message={error()} />
    </>
  );
}
