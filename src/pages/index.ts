export {
  answerNotFound,
  answerPage,
  DefaultError,
  type ErrorPageProps,
  type PageSettings,
} from "./answer.ts";
export { answerRoute } from "./answer-route.ts";
export type { Assets, ViewAsset } from "./assets.ts";
export { escapeHtml } from "./document.ts";
export { Head } from "./head.ts";
export {
  type Layout,
  type Page,
  type PageDefinition,
  type PageFunction,
  type PageOptions,
  type PageResult,
  page,
  pageOf,
} from "./page.ts";
export { NotFound, type Redirect, redirect } from "./redirect.ts";
export { type Route, type RouteDefinition, type RouteFunction, type RoutePattern, route, routeOf } from "./route.ts";
