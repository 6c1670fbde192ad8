/**
 * `tsweb/node`: an application on Node's own HTTP server.
 */
export { type Listening, listenOn } from "./listen.ts";
export { type NodeHandler, node } from "./node.ts";
export { serve } from "./serve.ts";
