import { escapeHtml } from "../pages/index.ts";
import { ERROR_PAGE_SCRIPT } from "./dev-assets.ts";
import type { ExplainedError } from "./explain-error.ts";

/** Formats an error for a terminal: message, location and source lines, or the stack when those are unknown. */
export function errorText({ name, message, stack, location, frame }: ExplainedError): string {
  return location && frame ? `\n${name}: ${message}\n${location}\n${frame}\n` : `\n${stack || `${name}: ${message}`}\n`;
}

/**
 * Renders the page that shows an error to the developer: message, source lines, stack, and a script that reloads the
 * page after an edit.
 *
 * @param id the request's id; empty when the request did not reach the application
 */
export function errorPage({ name, message, stack, location, frame }: ExplainedError, id: string): string {
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(name)}</title>` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<style>${STYLE}</style><script type="module" src="${ERROR_PAGE_SCRIPT}"></script></head><body><main>` +
    `<p>${escapeHtml(name)}</p><h1>${escapeHtml(message)}</h1>` +
    (location ? `<p>${escapeHtml(location)}</p>` : "") +
    (frame ? `<pre>${escapeHtml(frame)}</pre>` : "") +
    `<h2>Stack</h2><pre>${escapeHtml(stack)}</pre>` +
    `<p>${id ? `Request ${escapeHtml(id)}. ` : ""}This page reloads when the error is fixed.</p></main></body></html>`
  );
}

const STYLE =
  ":root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}main{max-width:60rem;margin:3rem auto;padding:0 1rem}" +
  "h1{font-size:1.4rem;border-left:4px solid #d33;padding-left:1rem;white-space:pre-wrap}h2{font-size:1rem}" +
  "pre{overflow:auto;padding:1rem;border:1px solid #8884;border-radius:6px;font-size:.875rem}";
