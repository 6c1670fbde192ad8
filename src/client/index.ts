/**
 * The entry point `tsweb/client`: calls server functions over HTTP from scripts, tests and other services.
 */
export type { ErrorCode } from "../errors.ts";
export { RPCError } from "../errors.ts";
export type { BearerSource, Call, Serialized, Stream } from "../protocol/index.ts";
export { type Client, client } from "./client.ts";
export type { ClientOptions, Fetch } from "./connection.ts";
