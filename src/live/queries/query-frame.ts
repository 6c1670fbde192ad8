/** The frames of queries, apart from those with a value. @see docs/protocol.md 10.13 */
import type { ErrorCode } from "../../errors.ts";
import { QUERY_EVENT, type QueryFrame } from "../../protocol/index.ts";

/** A frame of a query. All connections of the process share it. */
export class QueryFrameText {
  /** The id of the query. */
  readonly id: string;
  /** JSON */
  readonly json: string;
  #event: Uint8Array | undefined;

  constructor(id: string, json: string) {
    this.id = id;
    this.json = json;
  }

  /** The frame as an event of an event stream, encoded on first use. */
  get event(): Uint8Array {
    this.#event ??= Buffer.from(`event: ${QUERY_EVENT}\ndata: ${this.id}\ndata: ${this.json}\n\n`);
    return this.#event;
  }
}

/** Returns the frame of a run that has failed, or of a value that is refused. */
export function errorFrame(id: string, code: ErrorCode, message: string): QueryFrameText {
  return frameOf(id, { error: { code, message, details: {} } });
}

/** Returns the frame for a process that lacks the function or its signature. @param build that of the process, if it has one */
export function staleFrame(id: string, build: string | null): QueryFrameText {
  return frameOf(id, { stale: build ?? "" });
}

/** Returns the frame for a token that is not valid any more. */
export function endedFrame(id: string, token: string): QueryFrameText {
  return frameOf(id, { ended: token });
}

function frameOf(id: string, frame: QueryFrame): QueryFrameText {
  return new QueryFrameText(id, JSON.stringify(frame));
}
