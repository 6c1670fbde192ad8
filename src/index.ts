/// <reference path="./assets.d.ts" preserve="true" />

/**
 * The entry point `tsweb`: applications, pages, routes, server functions, sessions and live channels. It runs on the
 * server only; browser code imports `tsweb/browser`.
 */
export { App, type AppOptions } from "./app.ts";
export { ConfigError } from "./config/index.ts";
export { type ErrorCode, RPCError, ValueError } from "./errors.ts";
export { request } from "./http/index.ts";
export { type Bus, channel, publish } from "./live/index.ts";
export {
  type ErrorPageProps,
  Head,
  type Layout,
  NotFound,
  type Page,
  type PageFunction,
  type PageOptions,
  type PageResult,
  page,
  type Redirect,
  type Route,
  type RouteFunction,
  type RoutePattern,
  redirect,
  route,
} from "./pages/index.ts";
export { type Feed, type Markup, type Serialized, SerializeError, type Stream } from "./protocol/index.ts";
export {
  type float,
  type int,
  type ServerFunction,
  type ServerOptions,
  type StandardSchema,
  server,
} from "./rpc/index.ts";
export { type RequestInfo, realtime } from "./server/index.ts";
export { type Claims, type Json, type Role, type Session, session, type User } from "./session/index.ts";
