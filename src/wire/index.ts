/**
 * How a call travels, as its caller sees it: what the browser's stubs and `tsweb/client` have in common.
 * It runs in the browser, so it imports nothing of the server's and touches no document.
 */
export { untilAborted } from "./abort.ts";
export { failure, resultOf } from "./answer.ts";
export { type Arguments, byName } from "./arguments.ts";
export { openStream } from "./stream.ts";
