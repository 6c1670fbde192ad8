/** Fuzzing: requests and bytes that are generated from a seed, and the rules for the responses. */
export { fuzzInProcess } from "./in-process.ts";
export { fuzzMultipart } from "./multipart.ts";
export { fuzzOverSockets } from "./over-sockets.ts";
