/**
 * Pages and routes: their declarations, and how they are handled and rendered.
 */
export type { Assets, ViewAsset } from "./assets.ts";
export { escapeHtml } from "./document.ts";
export { DefaultError, type ErrorPageProps } from "./error-page.ts";
export { handleNotFound, handlePage } from "./handle-page.ts";
export { handleRoute } from "./handle-route.ts";
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
export type { PageSettings } from "./render-document.ts";
export { type Route, type RouteDefinition, type RouteFunction, type RoutePattern, route, routeOf } from "./route.ts";
