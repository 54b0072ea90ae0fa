// The rows that this browser keeps by itself, and those that lead to the signed-in devices.

import { createMemo } from "solid-js";
import { Button } from "../../kit/Button";
import { Seg } from "../../kit/small";
import { type Appearance, appearance, choose, isDefault, motions, textSizes, themes } from "../../state/appearance";
import { chooseRecords, type RecordsChoice, recordsChoice, recordsChoices } from "../../state/records";
import { devices_href, go } from "../../state/route";
import { Select } from "./fields";
import { Notifications } from "./Notifications";
import type { SettingsRow } from "./rows";

const theme_words = { system: "System", light: "Light", dark: "Dark" };
const records_words = { ask: "Ask", delete: "Delete", keep: "Keep" };
const motion_words = { system: "Follow system", reduced: "Reduced" };

export const themeText = () => theme_words[appearance().theme];

function systemTheme(): string {
  const isDark = window.matchMedia?.("(prefers-color-scheme: dark)").matches;
  return `System is ${isDark ? "dark" : "light"} now`;
}

function Source(props: { name: keyof Appearance }) {
  return <span class="setting-source">{isDefault(props.name) ? "Default" : "Set on this device"}</span>;
}

function Theme() {
  const note = createMemo(() => (appearance().theme === "system" ? systemTheme() : "Set on this device"));
  return (
    <>
      <Seg
        label="Theme"
        choices={themes.map((value) => ({ value, text: theme_words[value] }))}
        value={appearance().theme}
        onChange={(theme) => choose("theme", theme)}
      />
      <span class="setting-source">{note()}</span>
    </>
  );
}

function TextSize(props: { labelledBy: string }) {
  return (
    <>
      <Select
        labelledBy={props.labelledBy}
        value={appearance().text}
        disabled={false}
        options={textSizes.map((value) => ({ value, text: `${value} px` }))}
        onChoose={async (value) => {
          choose("text", value as Appearance["text"]);
          return true;
        }}
      />
      <Source name="text" />
    </>
  );
}

function Motion(props: { labelledBy: string }) {
  return (
    <>
      <Select
        labelledBy={props.labelledBy}
        value={appearance().motion}
        disabled={false}
        options={motions.map((value) => ({ value, text: motion_words[value] }))}
        onChoose={async (value) => {
          choose("motion", value as Appearance["motion"]);
          return true;
        }}
      />
      <Source name="motion" />
    </>
  );
}

function Records() {
  return (
    <>
      <Seg
        label="Agents’ own records"
        choices={recordsChoices.map((value) => ({ value, text: records_words[value] }))}
        value={recordsChoice()}
        onChange={(choice: RecordsChoice) => chooseRecords(choice)}
      />
      <span class="setting-source">{recordsChoice() === "ask" ? "Default" : "Set on this device"}</span>
    </>
  );
}

function Devices() {
  return <Button onClick={() => go(devices_href)}>Manage</Button>;
}

export const deviceRows: SettingsRow[] = [
  {
    key: "theme",
    section: "Appearance",
    title: "Theme",
    about: "Follows your system unless you pick one.",
    also: ["dark mode", "light", "colour scheme"],
    Control: Theme,
  },
  {
    key: "text",
    section: "Appearance",
    title: "Text size",
    about: "Messages and the composer.",
    also: ["font", "zoom"],
    Control: TextSize,
  },
  {
    key: "motion",
    section: "Appearance",
    title: "Motion",
    about: "Opening, closing and progress rings.",
    also: ["animation", "reduced motion"],
    Control: Motion,
  },
  {
    key: "agent-records",
    section: "Agents",
    title: "Agents’ own records",
    about: "What happens to the agent’s own record of a session when you delete the session. “Ask” asks the next time.",
    also: ["delete session", "history", "agent's own record"],
    Control: Records,
  },
  {
    key: "notifications",
    section: "Notifications",
    title: "On this device",
    about: "When an agent needs you, and when its work is done. Each device decides for itself.",
    also: ["push", "alert"],
    Control: Notifications,
  },
  {
    key: "devices",
    section: "Devices",
    title: "Signed-in devices",
    about: "Add a phone, rename devices, and revoke their access.",
    also: ["phone", "QR code", "sign out"],
    Control: Devices,
  },
];
