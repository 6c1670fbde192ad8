/**
 * The entry point `tsweb/node`: serves an application with Node's own HTTP server.
 */
export { type Listening, listenOn } from "./listen.ts";
export { type NodeHandler, node } from "./node.ts";
export { serve } from "./serve.ts";
export { type Stopped, stoppable } from "./stoppable.ts";
