// Turns TeX into MathML, where a text that takes for ever can be stopped.

import temml from "temml";

export interface MathJob {
  id: number;
  tex: string;
  isBlock: boolean;
}

export type MathReply = { id: number; markup: string } | { id: number; error: string } | { ready: true };

const port = self as unknown as {
  postMessage(reply: MathReply): void;
  onmessage: (event: MessageEvent<MathJob>) => void;
};

port.onmessage = ({ data: { id, tex, isBlock } }) => {
  try {
    const markup = temml.renderToString(tex, {
      displayMode: isBlock,
      throwOnError: true,
      trust: false,
      maxExpand: 200,
      maxSize: [25, 250],
    });
    port.postMessage({ id, markup });
  } catch (error) {
    port.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
port.postMessage({ ready: true });
