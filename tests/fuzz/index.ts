/** Requests and bytes that nobody would send, made up by chance that can be had again. */
export { fuzzInProcess } from "./in-process.ts";
export { fuzzOverSockets } from "./over-sockets.ts";
