/**
 * The entry point `tsweb/testing`: simulated users of an application, in the process of its tests.
 */
export type { Client } from "../client/index.ts";
export { type ErrorCode, RPCError } from "../errors.ts";
export type { BearerSource, Call, Feed, Serialized, Stream } from "../protocol/index.ts";
export type { Visit } from "./visitor.ts";
export { type GetOptions, type Visitor, type VisitorOptions, visitor } from "./visitor.ts";
