// Turns TeX into MathML, where a text that takes for ever can be stopped.

import temml from "temml";

export interface MathJob {
  tex: string;
  isBlock: boolean;
}

const port = self as unknown as {
  postMessage(reply: { ready: true } | { id: number; result: string } | { id: number; error: string }): void;
  onmessage: (event: MessageEvent<{ id: number; job: MathJob }>) => void;
};

port.onmessage = ({ data: { id, job } }) => {
  try {
    const result = temml.renderToString(job.tex, {
      displayMode: job.isBlock,
      throwOnError: true,
      trust: false,
      maxExpand: 200,
      maxSize: [25, 250],
    });
    port.postMessage({ id, result });
  } catch (error) {
    port.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
port.postMessage({ ready: true });
