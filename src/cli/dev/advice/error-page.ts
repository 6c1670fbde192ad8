import { escapeHtml } from "../../../pages/index.ts";
import type { ExplainedError } from "../../errors/index.ts";
import { ERROR_PAGE_SCRIPT } from "../server/index.ts";

/** What the page of an error needs besides the error. */
export interface ErrorPageOptions {
  /** The id of the request. */
  readonly id: string;
  /** The nonce of the page's styles and its script. */
  readonly nonce: string;
  /** The version of the files when the request arrived. */
  readonly edits: string;
}

/**
 * Renders the page that shows an error to the developer: message, source lines, stack, and a script that reloads the
 * page after an edit.
 */
export function errorPage(
  { name, message, stack, location, frame }: ExplainedError,
  { id, ...page }: ErrorPageOptions,
): string {
  return document(
    name,
    `<p>${escapeHtml(name)}</p><h1>${escapeHtml(message)}</h1>` +
      (location ? `<p>${escapeHtml(location)}</p>` : "") +
      (frame ? `<pre>${escapeHtml(frame)}</pre>` : "") +
      `<h2>Stack</h2><pre>${escapeHtml(stack)}</pre>` +
      `<p>Request ${escapeHtml(id)}. This page reloads when the error is fixed.</p>`,
    page,
  );
}

/** Renders the page that clients on other machines see in place of an error. */
export function remoteErrorPage({ id, ...page }: ErrorPageOptions): string {
  return document(
    "Error",
    "<h1>Something went wrong on the server</h1>" +
      `<p>The terminal of the development server shows the error of request ${escapeHtml(id)}. ` +
      "This page reloads after an edit.</p>",
    page,
  );
}

function document(title: string, main: string, { nonce, edits }: Omit<ErrorPageOptions, "id">): string {
  return (
    `<!doctype html><html lang="en" data-edits="${escapeHtml(edits)}"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<style nonce="${nonce}">${STYLE}</style>` +
    `<script type="module" src="${ERROR_PAGE_SCRIPT}" nonce="${nonce}"></script></head><body><main>` +
    `${main}</main></body></html>`
  );
}

const STYLE =
  ":root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}main{max-width:60rem;margin:3rem auto;padding:0 1rem}" +
  "h1{font-size:1.4rem;border-left:4px solid #d33;padding-left:1rem;white-space:pre-wrap}h2{font-size:1rem}" +
  "pre{overflow:auto;padding:1rem;border:1px solid #8884;border-radius:6px;font-size:.875rem}";
