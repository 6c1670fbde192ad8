/// <reference path="./assets.d.ts" preserve="true" />

/**
 * The entry point `tsweb`: applications, pages, routes, server functions, sessions and live channels. It runs on the
 * server only; browser code imports `tsweb/browser`.
 */
export { App, type AppOptions } from "./app.ts";
export { type Config, ConfigError, type ConfigProblem, project_path } from "./config/index.ts";
export { type ErrorCode, RPCError, ValueError } from "./errors.ts";
export { type SendFileOptions, send_file } from "./files/index.ts";
export { once, type Redirect, type RedirectOptions, redirect, request } from "./http/index.ts";
export {
  type AppRate,
  type FunctionRate,
  type Limit,
  type LimitOptions,
  type LimitState,
  limit,
} from "./limits/index.ts";
export {
  type Bus,
  type ChannelOptions,
  channel,
  GapError,
  type ListenOptions,
  type LiveMessages,
  listen,
  type PresenceOptions,
  presence,
  publish,
  type Query,
  type QueryOptions,
  query,
  type Realtime,
  who,
} from "./live/index.ts";
export type { Logger } from "./logging/index.ts";
export type { ErrorDetails, ErrorKind, FailedRequest, OnError } from "./observe/index.ts";
export {
  Body,
  type ErrorPage,
  type ErrorPageProps,
  form,
  Head,
  Html,
  Later,
  type Layout,
  type LayoutResult,
  NotFound,
  type Page,
  type PageCacheOptions,
  type PageFunction,
  type PageOptions,
  type PageResult,
  page,
  type Route,
  type RouteFunction,
  type RouteOptions,
  type RoutePattern,
  type RouteResult,
  route,
} from "./pages/index.ts";
export {
  type Call,
  type CallOptions,
  type ChannelMessage,
  type Channels,
  type Feed,
  type FormHandle,
  type FormOptions,
  type LiveHandle,
  type Markup,
  type Person,
  type Presence,
  type PublishedMessage,
  type Serialized,
  SerializeError,
  type Stream,
} from "./protocol/index.ts";
export {
  type float,
  type int,
  type ServerFunction,
  type ServerOptions,
  type StandardSchema,
  server,
} from "./rpc/index.ts";
export {
  type Before,
  type BeforeInput,
  type BeforeResult,
  type RequestInfo,
  realtime,
  revalidate,
} from "./server/index.ts";
export {
  type Authenticate,
  type BearerUser,
  type Claims,
  type Json,
  type RevokedUser,
  type Role,
  type Session,
  session,
  type User,
} from "./session/index.ts";
