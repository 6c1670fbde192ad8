import { FORM_PARAMETER } from "../protocol/index.ts";

/**
 * Returns the URL without the parameter that names the function of a form. Pages never see it: their links and redirects
 * would send the form again.
 *
 * The parameter is recognized by its decoded name, as the server reads it. If `?%5F%5Fform=<other>` were kept, it would
 * precede the page's own parameter in the addresses of its forms, and a link could choose the function that they call.
 * Other parameters stay as they were written.
 *
 * @see docs/protocol.md 15.1
 */
export function withoutFormParameter(url: URL): URL {
  if (!hasFormParameter(url)) return url;
  const result = new URL(url);
  const others = url.search
    .slice(1)
    .split("&")
    .filter((part) => part !== "" && !isFormParameter(part));
  result.search = others.join("&");
  return result;
}

/** Returns the value of the parameter that names the function of a form: the first one, decoded; `null` without one. */
export function formParameter(url: URL): string | null {
  return hasFormParameter(url) ? url.searchParams.get(FORM_PARAMETER) : null;
}

/** Parsing the parameters is avoided for most queries, because this runs for every request of a page. */
function hasFormParameter(url: URL): boolean {
  return (url.search.includes(FORM_PARAMETER) || url.search.includes("%")) && url.searchParams.has(FORM_PARAMETER);
}

/** Returns whether a part of a query is the parameter. `URLSearchParams` removes one leading `?`. */
function isFormParameter(part: string): boolean {
  return new URLSearchParams(`?${part}`).has(FORM_PARAMETER);
}
