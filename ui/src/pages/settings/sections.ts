// The parts of the settings page, in their order.

import type { IconName } from "../../kit/Icon";

export interface Section {
  /** As the address has it. */
  id: string;
  /** As the server names it. */
  name: string;
  icon: IconName;
  note?: string;
}

export const sections: Section[] = [
  { id: "general", name: "General", icon: "settings" },
  { id: "appearance", name: "Appearance", icon: "sun", note: "Applies to this device only." },
  { id: "main-ai", name: "Main AI", icon: "spark" },
  { id: "agents", name: "Agents", icon: "agents" },
  { id: "permissions", name: "Permissions", icon: "shield" },
  { id: "notifications", name: "Notifications", icon: "bell" },
  { id: "devices", name: "Devices", icon: "devices" },
  {
    id: "server",
    name: "Server",
    icon: "server",
    note: "Read only. Set when the server starts; change the flag, variable or file and restart.",
  },
];
