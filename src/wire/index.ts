/**
 * How calls and live updates travel, as the browser sees them: what its stubs and `tsweb/client` have in common,
 * and what `subscribe` reads. It runs in the browser, so it imports nothing of the server's and touches no document.
 */
export { untilAborted } from "./abort.ts";
export { failure, resultOf } from "./answer.ts";
export { type Arguments, byName } from "./arguments.ts";
export { eventReader, type ServerEvent } from "./events.ts";
export { readFeed } from "./feed.ts";
export { readLines } from "./lines.ts";
export { openStream } from "./stream.ts";
