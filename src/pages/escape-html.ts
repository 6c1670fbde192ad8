/** Escapes text for HTML, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  if (!/[&<>"']/.test(text)) return text; // most names and URLs
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/**
 * Escapes JSON for a script element; the result is equal JSON. Without `<`, it cannot contain `</script>` or `<!--`.
 * U+2028 and U+2029 are escaped for parsers older than ES2019.
 */
export function escapeScript(json: string): string {
  if (!/[<>\u2028\u2029]/.test(json)) return json;
  return json
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}
