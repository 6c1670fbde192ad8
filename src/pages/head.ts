import { type ComponentChildren, Fragment, isValidElement, toChildArray } from "preact";
import { activeRender, MarkupError } from "./rendering.ts";

/**
 * Puts its children into the document's `<head>`, from anywhere in a page's markup outside a view.
 * A `<title>` among them is the document's, as it is written; of several the last one counts.
 *
 * @throws MarkupError inside a view: the head is the server's; inside another `Head`
 * @example <Head><title>{article.title}</title><meta name="description" content={article.lead} /></Head>
 */
export function Head({ children }: { readonly children?: ComponentChildren }): null {
  const render = activeRender();
  if (!render) return null;
  if (render.viewDepth > 0) throw new MarkupError("<Head> stands in a view. Put it into the page around the view.");
  if (render.inHead) throw new MarkupError("<Head> stands in another <Head>. Put its children there.");
  render.head.push(children);
  return null;
}

/** Parts what `Head` was given into the title's text and the rest. */
export function splitHead(entries: readonly ComponentChildren[]): { title: string | null; rest: ComponentChildren[] } {
  let title: string | null = null;
  const rest: ComponentChildren[] = [];
  for (const child of flatten(entries)) {
    if (isValidElement(child) && child.type === "title") title = textOf(child.props.children);
    else rest.push(child);
  }
  return { title, rest };
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
