/**
 * The entry point `tsweb/selects`: selects the options of `<select defaultValue>` that the browser creates. The compile step imports
 * it in modules with such elements, so other pages do not load it.
 */
import { options, type VNode } from "preact";

/** An element of the page, as Preact stores it on its node under a minified name. */
type RenderedNode = VNode<{ value?: unknown; defaultValue?: unknown }> & { readonly __e?: HTMLSelectElement | null };

/** What Preact makes of the prop, because no element has such a property. */
const ATTRIBUTE = "defaultvalue";

const renderedSelects = new WeakSet<HTMLSelectElement>();
const previousHook = options.diffed;

options.diffed = (vnode: RenderedNode) => {
  const { type, props, __e: select } = vnode;
  if (type === "select" && select) {
    // Hydration sets no attribute: the server has selected the options, and the user may have changed them.
    if (!renderedSelects.has(select) && select.hasAttribute(ATTRIBUTE) && props.value === undefined)
      selectOptions(select, [props.defaultValue].flat().map(String));
    renderedSelects.add(select);
    select.removeAttribute(ATTRIBUTE);
  }
  previousHook?.(vnode);
};

/** Selects options, also when the form is reset. */
function selectOptions(select: HTMLSelectElement, values: readonly string[]): void {
  for (const option of select.options)
    if (values.includes(option.value)) option.selected = option.defaultSelected = true;
}
