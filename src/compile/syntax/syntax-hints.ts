/** The elements of HTML without a closing tag. JSX requires a slash in them. */
export const VOID_ELEMENTS: ReadonlySet<string> = new Set([
  ...["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"],
]);

/**
 * Returns how to fix a syntax error that is common in markup; `""` for any other.
 *
 * @param message the parser's message
 * @param code the text of the module
 * @param offset where the parser reports the error
 */
export function syntaxHint(message: string, code: string, offset: number): string {
  const [, unclosed] = /closing tag for '([^']*)'/.exec(message) ?? [];
  if (unclosed !== undefined) {
    return VOID_ELEMENTS.has(unclosed)
      ? `JSX needs a slash in it: write \`<${unclosed} />\`.`
      : `Write \`</${unclosed}>\` before this tag, or remove this tag.`;
  }
  if (message.startsWith("Adjacent JSX elements")) return "Write `<>` before them and `</>` after them.";
  if (message.startsWith("`await` is only allowed")) {
    return "Declare the function around it as async. A view cannot be async: await the data in the page, and pass it as a prop.";
  }
  if (code.startsWith("<!--", offset) || code.startsWith("<!--", offset - 1))
    return "JSX has no HTML comments: write `{/* comment */}`.";
  if (/^(?:if|switch)\b/.test(code.slice(offset)) && /\{\s*$/.test(code.slice(0, offset)))
    return "Braces in markup contain an expression: write `{condition && <p>…</p>}` or `{condition ? … : …}`.";
  if (/^(?:for|while)\b/.test(code.slice(offset)) && /\{\s*$/.test(code.slice(0, offset)))
    return "Braces in markup contain an expression: write `{items.map((item) => <li key={item.id}>…</li>)}`.";
  if (message.includes("but found `;`") && message.includes("`}`"))
    return "Braces in markup contain an expression: remove the semicolon.";
  return "";
}
