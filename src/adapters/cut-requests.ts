import type { ServerResponse } from "node:http";
import type { AppInternals } from "../server/index.ts";
import { NodeInboundRequest } from "./node-inbound-request.ts";

/** The application whose requests were cut off, and the time that they had. */
export interface CutOptions {
  readonly internals: AppInternals;
  readonly stopSeconds: number;
}

/** Logs the requests that were cut off: a line for each route, with their number. */
export function logCutRequests(cut: readonly ServerResponse[], { internals, stopSeconds }: CutOptions): void {
  const counts = new Map<string, number>();
  for (const response of cut) {
    const { kind, name } = internals.targetOf(new NodeInboundRequest(response.req, response));
    const route = `${kind} ${name ?? ""}`.trim();
    counts.set(route, (counts.get(route) ?? 0) + 1);
  }
  for (const [route, count] of counts) {
    internals.log.error(
      { route, count },
      `Requests were cut off: they had not ended ${stopSeconds} s after the port was closed. If they need longer, raise ` +
        "WEB_STOP_SECONDS",
    );
  }
}
