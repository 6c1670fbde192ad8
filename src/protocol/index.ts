/**
 * What browser, client and server must agree on, defined once: paths, header names, stream and event frames, feeds,
 * positions, signatures, and the values that are serialised. It runs in the browser too, so it imports errors.ts
 * alone and touches no document.
 */
export { untilAborted } from "./abort.ts";
export { eventReader, type ServerEvent } from "./event-stream.ts";
export type { Feed } from "./feed.ts";
export type { GapReason } from "./gap.ts";
export { CSRF_HEADER } from "./headers.ts";
export { readLines } from "./lines.ts";
export { LIVE_PATH, POLL_PATH } from "./live-paths.ts";
export type { Markup } from "./markup.ts";
export { type Arguments, byName } from "./named-arguments.ts";
export { openStream } from "./open-stream.ts";
export { OPENAPI_PATH, RPC_PREFIX } from "./paths.ts";
export { isLater } from "./position.ts";
export { readFeed } from "./read-feed.ts";
export { failure, resultOf } from "./result.ts";
export { SerializeError, toJson } from "./serialize.ts";
export type { Serialized, SerializedResult } from "./serialized.ts";
export type { Coercion, PageSource, Parameter, Signature, ViewSource } from "./signature.ts";
export type { Stream } from "./stream.ts";
export type { Cases, Fields, Kind, ListShape, Literal, ObjectShape, Shape } from "./type-shape.ts";
