// Reads server-sent events out of pieces of text, cut anywhere.

export interface Frame {
  event: string;
  data: string;
  /** As the frame has it; empty without one. */
  id: string;
  /** Which session it is of, in a stream of several. */
  session: string | null;
}

export function createParser(onFrame: (frame: Frame) => void): (piece: string) => void {
  let rest: string[] = [];
  let fields = { event: "", data: [] as string[], id: "", session: null as string | null };

  function line(text: string): void {
    if (text === "") {
      if (fields.event !== "" || fields.data.length > 0) {
        onFrame({ ...fields, event: fields.event || "message", data: fields.data.join("\n") });
      }
      fields = { event: "", data: [], id: "", session: null };
      return;
    }
    const colon = text.indexOf(":");
    const name = colon < 0 ? text : text.slice(0, colon);
    const from = colon < 0 ? text.length : colon + (text[colon + 1] === " " ? 2 : 1);
    if (name === "data") fields.data.push(text.slice(from));
    else if (name === "event") fields.event = text.slice(from);
    else if (name === "id") fields.id = text.slice(from);
    else if (name === "session") fields.session = text.slice(from);
  }

  return (piece) => {
    let at = 0;
    for (let end = piece.indexOf("\n"); end >= 0; end = piece.indexOf("\n", at)) {
      // A line of megabytes comes in many pieces: they are joined once.
      rest.push(piece.slice(at, end));
      const whole = rest.length === 1 ? (rest[0] ?? "") : rest.join("");
      rest = [];
      line(whole.endsWith("\r") ? whole.slice(0, -1) : whole);
      at = end + 1;
    }
    if (at < piece.length) rest.push(piece.slice(at));
  };
}
