/**
 * Returns how to call the application itself on the server, if an error is that of `fetch` for a URL without an origin:
 * "Failed to parse URL from /api/guests". Otherwise an empty string.
 */
export function relativeUrlAdvice({ name, message }: { readonly name?: string; readonly message: string }): string {
  const url = name === "TypeError" ? /^Failed to parse URL from (\/\S*)$/.exec(message)?.[1] : undefined;
  if (url === undefined) return "";
  return (
    "On the server, fetch needs a complete URL. To use what the application itself serves, call the function that the route " +
    `of ${url.replace(/[?#].*$/, "")} calls.`
  );
}
