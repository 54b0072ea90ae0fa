import { For, Show } from "solid-js";
import { Icon } from "../kit/Icon";
import { Menu } from "../kit/Menu";
import { MenuItem } from "../kit/MenuList";
import type { Review } from "./review";
import { sinceWords } from "./words";

/** Since when: a turn, the session, the base, the last commit. */
export function SinceMenu(props: { review: Review }) {
  const changes = () => props.review.changes();
  const words = () => {
    const since = props.review.since();
    return since ? sinceWords(since, changes()?.base ?? null) : "";
  };
  return (
    <Show when={(changes()?.sinces.length ?? 0) > 0}>
      <Menu
        label="Changes since"
        button={(button) => (
          <button type="button" class="pill since-pill" {...button}>
            <span class="visually-hidden">Changes: </span>
            {words()}
            <Icon name="more" size="small" />
          </button>
        )}
      >
        {(close) => (
          <For each={changes()?.sinces}>
            {(since) => (
              <MenuItem
                chosen={since === props.review.since()}
                onChoose={() => {
                  close();
                  props.review.choose(since);
                }}
              >
                {sinceWords(since, changes()?.base ?? null)}
              </MenuItem>
            )}
          </For>
        )}
      </Menu>
    </Show>
  );
}
