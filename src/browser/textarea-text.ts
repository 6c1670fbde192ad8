/** The check for text areas whose new text is not shown, in development. */
import { reportWarning } from "./dev/report.ts";
import type { LocatedNode } from "./list-keys.ts";

/** A text area of the page, as Preact stores it on its node under a minified name. */
type RenderedNode = LocatedNode & { readonly __e?: Pick<HTMLTextAreaElement, "value" | "defaultValue"> | null };

/** The text with which each text area was rendered last. */
const renderedTexts = new WeakMap<object, string>();

/**
 * Reports a text area that was rendered with other children than before, while the user has changed its text: then the
 * browser does not show them. Call it after the element was rendered.
 *
 * Elements of packages have no location, so they are not reported.
 */
export function checkTextareaText({ type, props, __source: source, __e: element }: RenderedNode): void {
  if (type !== "textarea" || !element || !source || source.fileName.includes("/node_modules/")) return;
  const { children, value }: Readonly<Record<string, unknown>> = { ...props };
  if (value !== undefined || (typeof children !== "string" && typeof children !== "number")) return;
  const text = element.defaultValue;
  const previous = renderedTexts.get(element);
  renderedTexts.set(element, text);
  if (previous === undefined || previous === text || element.value === text.replace(/\r\n?/g, "\n")) return;
  const warning = new Error(
    "The new children of this <textarea> are not shown: they are only its first text, and the user has changed it. Write " +
      "`<textarea value={text} onInput={…} />` in place of the children.",
  );
  reportWarning(Object.assign(warning, { source }));
}
