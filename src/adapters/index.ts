/**
 * The entry point `tsweb/node`: serves an application with Node's own HTTP server.
 */

export { type NodeHandler, node } from "./node.ts";
export { type Listening, listenOn, serve } from "./serve.ts";
export { type Stopped, stoppable } from "./stoppable.ts";
