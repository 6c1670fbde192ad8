export { clientAddress } from "./address.ts";
export { BODY_SECONDS, BodyGone, readBody, refuseDeclaredTooLarge } from "./body.ts";
export {
  type Fields,
  RequestContext,
  requireContext,
  runInContext,
  runOutsideRequests,
} from "./context.ts";
export { requestId, traceParent } from "./ids.ts";
export { FetchInbound, type Inbound } from "./inbound.ts";
export { withLimitedBody } from "./limited.ts";
export { isSameOrigin, originOf, siteOriginsOf } from "./origin.ts";
export { belowBase, isPlainTarget, isUsablePath } from "./path.ts";
export { isPushed, Pushed, type Pushing, type Sink } from "./pushed.ts";
export { CLOSE, Refusal } from "./refusal.ts";
export { htmlReply, jsonReply, PRIVATE, type Reply, textReply } from "./reply.ts";
export { request } from "./request.ts";
export { complete, nativeResponse, type Outgoing, toResponse } from "./respond.ts";
export { checkSecurity, type SecurityLines, type SecurityOptions, securityLines } from "./security.ts";
