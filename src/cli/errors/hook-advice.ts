/** A read of the component that is rendered, when there is none: `__H` is a field of Preact. */
const NO_COMPONENT = /^Cannot read properties of (?:null|undefined) \(reading '(?<field>__H|context)'\)/;

/**
 * Returns how to use a hook if an error of the server is the call of one where no component is rendered, such as in the
 * function of a page. Otherwise an empty string.
 *
 * @param line the source line of the error; empty if unknown
 */
export function hookAdvice(error: unknown, line: string): string {
  if (!(error instanceof TypeError)) return "";
  const field = NO_COMPONENT.exec(error.message)?.groups?.field;
  // Other objects have a `context`, too.
  if (field === undefined || (field === "context" && !/[\\/]preact[\\/]hooks[\\/]/.test(error.stack ?? ""))) return "";
  const hook = /\b(?<name>use[A-Z]\w*)\s*(?:<.*>)?\(/.exec(line)?.groups?.name ?? "A hook";
  return (
    `${hook} was called where no component is rendered. Pages cannot use hooks: their functions run on the server, once ` +
    "for each request. Move this part into a view, which can use hooks, and render the view in the page."
  );
}
