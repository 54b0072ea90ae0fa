// Reads diagrams where a text that takes for ever can be stopped.

import { drawDiagram } from "./diagram";
import { NotDrawn, type Picture } from "./picture";

const port = self as unknown as {
  postMessage(reply: { ready: true } | { id: number; result: Picture } | { id: number; error: string }): void;
  onmessage: (event: MessageEvent<{ id: number; job: string }>) => void;
};

port.onmessage = ({ data: { id, job } }) => {
  try {
    port.postMessage({ id, result: drawDiagram(job) });
  } catch (error) {
    port.postMessage({ id, error: error instanceof NotDrawn ? error.message : "it could not be read" });
  }
};
port.postMessage({ ready: true });
