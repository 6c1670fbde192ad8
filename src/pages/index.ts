/**
 * Pages and routes: their declarations, and how they are handled and rendered.
 */
export type { Assets, ViewAsset } from "./assets.ts";
export { Body, Html } from "./document-attributes.ts";
export { DefaultError, type ErrorPage, type ErrorPageProps } from "./error-page.ts";
export { escapeHtml } from "./escape-html.ts";
export { form } from "./form.ts";
export { handlePageForm, type PageForm } from "./handle-form.ts";
export { handleNotFound, handlePage, methodHint } from "./handle-page.ts";
export { handlePageError } from "./handle-page-error.ts";
export { handleRoute } from "./handle-route.ts";
export { Head } from "./head.ts";
export { checkLayout, type Layout, type LayoutResult } from "./layout.ts";
export { NotFound } from "./not-found.ts";
export {
  type Page,
  type PageDefinition,
  type PageFunction,
  type PageOptions,
  type PageResult,
  page,
  pageOf,
} from "./page.ts";
export type { PageSettings } from "./render-document.ts";
export {
  type Route,
  type RouteDefinition,
  type RouteFunction,
  type RouteOptions,
  type RoutePattern,
  type RouteResult,
  route,
  routeOf,
} from "./route.ts";
