export { type NodeHandler, node } from "./node.ts";
export { type Listening, listenOn, serve } from "./serve.ts";
