import { type ComponentChildren, Fragment, isValidElement, toChildArray } from "preact";
import { getActiveRender, MarkupError } from "./render-state.ts";

/**
 * A component that adds its children to the document's `<head>`. It can be used anywhere in the markup of a page, except
 * in views. A `<title>` among the children replaces the document's title; the last one counts.
 *
 * @throws MarkupError inside a view, because the browser does not render the head, and inside another `Head`
 * @example <Head><title>{article.title}</title><meta name="description" content={article.lead} /></Head>
 */
export function Head({ children }: { readonly children?: ComponentChildren }): null {
  const state = getActiveRender();
  if (!state) return null;
  if (state.viewDepth > 0)
    throw new MarkupError("<Head> is used inside a view. Move it into the page, outside the view.");
  if (state.inHead) throw new MarkupError("<Head> is used inside another <Head>. Put its children into the outer one.");
  state.head.push(children);
  return null;
}

/** Splits the children of all `Head` elements into the text of the title and the other elements. */
export function splitHead(entries: readonly ComponentChildren[]): { title: string | null; rest: ComponentChildren[] } {
  let title: string | null = null;
  const rest: ComponentChildren[] = [];
  for (const child of flatten(entries)) {
    rejectDocumentElement(child);
    if (isValidElement(child) && child.type === "title") title = textOf(child.props.children);
    else rest.push(child);
  }
  return { title, rest };
}

/** @throws MarkupError for an element that is not in `<head>`: its attributes would be ignored */
function rejectDocumentElement(child: ComponentChildren): void {
  if (!isValidElement(child) || (child.type !== "html" && child.type !== "body")) return;
  const component = child.type === "html" ? "Html" : "Body";
  const attributes = Object.keys(child.props).filter((name) => name !== "children");
  throw new MarkupError(
    `<${child.type}> is used inside <Head>, where it has no effect. To set ${attributes[0] ?? "attributes"} of <${child.type}>, ` +
      `write <${component} ${attributes[0] ?? "class"}="…" /> of "tsweb", outside of <Head>.`,
  );
}

function flatten(children: ComponentChildren): ComponentChildren[] {
  return toChildArray(children).flatMap((child) =>
    isValidElement(child) && child.type === Fragment ? flatten(child.props.children) : [child],
  );
}

function textOf(children: ComponentChildren): string {
  return toChildArray(children)
    .map((child) => (isValidElement(child) ? "" : String(child)))
    .join("");
}
