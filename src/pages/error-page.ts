import { type ComponentChildren, createContext, h, type VNode } from "preact";
import { useContext } from "preact/hooks";
import { RPCError } from "../errors.ts";
import type { Markup } from "../protocol/index.ts";
import type { LinkedNode } from "./render-state.ts";

/** The props of an application's error page. */
export interface ErrorPageProps {
  readonly status: number;
  /** A description for the user. It never contains the message of an unexpected error. */
  readonly message: string;
  /** The request id, which the user can quote to the operator. */
  readonly id: string;
}

/** Renders the error page of an application. It may be async. */
export type ErrorPage = (props: ErrorPageProps) => Markup | Promise<Markup>;

/** Returns the title of an error page by its status. */
export function errorTitle(status: number): string {
  return TITLES[status] ?? "Error";
}

const TITLES: Readonly<Record<number, string>> = {
  401: "Not signed in",
  403: "Not allowed",
  404: "Not found",
  429: "Too many requests",
  500: "Something went wrong",
  503: "Not available",
  504: "Not available in time",
};

const PAGE_ERRORS: ReadonlySet<string> = new Set(["not_found", "forbidden", "unauthenticated", "rate_limited"]);

/**
 * Returns whether a page has thrown an error for the user: with it, the page sets its own status, or requires a sign-in. Other errors
 * are failures of the application.
 */
export function isPageError(error: unknown): error is RPCError {
  return error instanceof RPCError && PAGE_ERRORS.has(error.code);
}

/** Whether the error is shown in the place of a part of a page. */
export const InsidePart = createContext(false);

/**
 * Renders its children in a `<main>`, or in a `<div>` if there is a `<main>` around them, or a page around the part. Preact calls it
 * with the component as `this`.
 */
function Main(this: { readonly __v: LinkedNode }, { children }: { readonly children?: ComponentChildren }): VNode {
  if (useContext(InsidePart)) return h("div", null, children);
  for (let node = this.__v.__; node; node = node.__) if (node.type === "main") return h("div", null, children);
  return h("main", null, children);
}

/** The error page of an application that does not define one. */
export function DefaultError({ status, message, id }: ErrorPageProps): Markup {
  const request = status === 500 ? h("p", null, ["Request ", h("code", null, id)]) : null;
  return h(Main, null, h("h1", null, errorTitle(status)), h("p", null, message), request);
}

/**
 * An error for an item that does not exist. A page that throws it responds with 404; the caller of a server function
 * receives the `RPCError` `not_found`.
 *
 * @param message shown to the user. Default: `There is nothing here.`
 * @example if (!article) throw new NotFound("This article does not exist.");
 */
export class NotFound extends RPCError {
  constructor(message = "There is nothing here.") {
    super("not_found", message);
  }
}
