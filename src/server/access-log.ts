import { traceIdOf } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import type { RequestListener } from "./observe-request.ts";

/**
 * Returns a listener that writes one line for each request. It contains nothing that the client has chosen besides its
 * method and its request id: no path, query, header or body.
 */
export function createAccessLog(logger: Logger): RequestListener {
  const ended: RequestListener["ended"] = ({ context, target, status, durationMs, bytes }) => {
    logger.info(
      {
        id: context.id,
        trace_id: traceIdOf(context.traceparent),
        method: context.inbound.method,
        kind: target.kind,
        name: target.name,
        status,
        ms: Math.round(durationMs * 10) / 10,
        bytes,
        address: context.address,
      },
      "Request",
    );
  };
  return { ended };
}
