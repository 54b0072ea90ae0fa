// How providers of the main AI are called.

import { choiceText } from "./settingText";

/** Any endpoint that speaks as OpenAI's does; the server has no name for it. */
export const compatible = "compatible";

export const providerText = (id: string): string => (id === compatible ? "OpenAI-compatible" : choiceText(id));

/** Where it is asked, for people. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}
