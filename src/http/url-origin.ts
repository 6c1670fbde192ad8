// A cache of one entry with the lifetime of the process. Most servers are reached under one host name, and parsing an
// origin costs as much as all other checks of a call together.
let cachedPrefix = "";
let cachedOrigin = "";

/** Returns the origin of a URL. The last result is cached. */
export function originOf({ href }: URL): string {
  const prefix = href.slice(0, href.indexOf("/", "https://".length));
  if (prefix !== cachedPrefix) {
    cachedOrigin = new URL(prefix).origin;
    cachedPrefix = prefix;
  }
  return cachedOrigin;
}
