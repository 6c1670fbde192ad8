import { REQUEST_ID_HEADER, TRACEPARENT_HEADER } from "../protocol/index.ts";
import { requestId } from "./request-id.ts";
import { traceParent } from "./trace-parent.ts";

/** The ids of a request, which its response carries. */
export interface RequestIds {
  /** The value of `X-Request-Id`. @see docs/protocol.md 2.3 */
  readonly id: string;
  /** The value of `traceparent`. @see docs/protocol.md 2.4 */
  readonly traceparent: string;
}

/**
 * Returns the ids of a request: those of its headers if they are valid, otherwise new ones.
 *
 * @param header returns a header of the request; `null` if it is missing
 */
export function requestIds(header: (name: string) => string | null): RequestIds {
  return { id: requestId(header(REQUEST_ID_HEADER)), traceparent: traceParent(header(TRACEPARENT_HEADER)) };
}

/** Returns the headers that carry the ids of a request, as names and values. */
export function idHeaders({ id, traceparent }: RequestIds): [name: string, value: string][] {
  return [
    [REQUEST_ID_HEADER, id],
    [TRACEPARENT_HEADER, traceparent],
  ];
}
