/**
 * Pages and routes: their declarations, and how they are handled and rendered.
 */

export { form } from "../forms/index.ts";
export { type Assets, escapeHtml, type ViewAsset } from "./document.ts";
export { Body, Head, Html } from "./document-elements.ts";
export { DefaultError, type ErrorPage, type ErrorPageProps, NotFound } from "./error-page.ts";
export { handlePageForm, type PageForm } from "./handle-form.ts";
export { handleNotFound, handlePage, methodHint, renderSharedPage, type SharedPage } from "./handle-page.ts";
export { handlePageError } from "./handle-page-error.ts";
export { Later } from "./later.ts";
export { DEFERRED_SCRIPT, DEFERRED_SCRIPT_PATH, LATER_SCRIPT, LATER_SCRIPT_PATH } from "./later-scripts.ts";
export { checkLayout, type Layout, type LayoutResult } from "./layout.ts";
export { setLinkBase } from "./links.ts";
export {
  type Page,
  type PageCacheOptions,
  type PageDefinition,
  type PageFunction,
  type PageOptions,
  type PageResult,
  page,
  pageOf,
} from "./page.ts";
export type { PageSettings } from "./render-document.ts";
export {
  handleRoute,
  type Route,
  type RouteDefinition,
  type RouteFunction,
  type RouteOptions,
  type RoutePattern,
  type RouteResult,
  route,
  routeOf,
} from "./route.ts";
