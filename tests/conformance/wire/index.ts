/** The test cases of the wire: the rules of docs/protocol.md 2 to 8, 10.4, 11 and 15, and the order of checks with rate limits. */
import { argumentCases } from "./arguments.ts";
import { buildCases } from "./builds.ts";
import { callCases } from "./calls.ts";
import { checkOrderCases } from "./check-order.ts";
import { errorCases } from "./errors.ts";
import type { WireCase } from "./exchange.ts";
import { fileCases } from "./files.ts";
import { formCases } from "./forms.ts";
import { idCases } from "./ids.ts";
import { liveCases } from "./live.ts";
import { originCases } from "./origins.ts";
import { pageCases } from "./pages.ts";
import { rateLimitCases } from "./rate-limit.ts";
import { rejectionCases } from "./rejections.ts";
import { routeCases } from "./routes.ts";
import { sessionCases } from "./sessions.ts";
import { streamCases } from "./streams.ts";
import { unreadBodyCases } from "./unread-bodies.ts";

export { COMMON_ENV, type HostComponent, type Target, VARIANT_ENV, type Variant } from "./exchange.ts";
export { fetchTarget, type SocketTarget, socketTarget } from "./targets.ts";

/** The test cases, by subject. */
export const WIRE_CASES: Readonly<Record<string, readonly WireCase[]>> = {
  calls: callCases,
  arguments: argumentCases,
  "rejected requests": rejectionCases,
  "unread bodies": unreadBodyCases,
  "order of checks": checkOrderCases,
  builds: buildCases,
  "rate limit": rateLimitCases,
  "origin check": originCases,
  errors: errorCases,
  "request ids": idCases,
  streams: streamCases,
  sessions: sessionCases,
  pages: pageCases,
  forms: formCases,
  routes: routeCases,
  files: fileCases,
  "live requests": liveCases,
};
