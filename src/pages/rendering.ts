import { type ComponentChildren, type ComponentType, Fragment, h, options, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { isPromise } from "../http/index.ts";
import {
  dropsLineFeed,
  isPreactCopyError,
  isReactHookError,
  keepLineFeed,
  preactCopyMessage,
  reactMessage,
  withUnits,
} from "../protocol/index.ts";
import { closeForm, openForm, prepareField, prepareSelection } from "./form-rendering.ts";
import { checkNesting } from "./html-nesting.ts";
import {
  checkChildren,
  checkHandlers,
  checkNoPromise,
  checkProps,
  checkReactType,
  checkRenderable,
  checkSynchronous,
  containsPromise,
  removeScriptUrls,
  removeTextHandlers,
} from "./markup-checks.ts";
import { writeTemplate } from "./markup-templates.ts";
import {
  type ElementLocation,
  getActiveRender,
  MarkupError,
  type RenderState,
  setActiveRender,
} from "./render-state.ts";
import { isTemplateNode } from "./template-node.ts";

/** What surrounds a part that is rendered apart from its page. */
interface PartSurroundings {
  /** The values of Preact's contexts around it. */
  readonly context: object;
  /** What the ids of `useId` in it begin with, so that they are unique in the page. */
  readonly ids: string;
}

/** Returns the HTML of markup. Islands and the children of `Head` are collected in `state`. */
export function renderMarkup(markup: ComponentChildren, state: RenderState, part?: PartSurroundings): string {
  const previous = setActiveRender(state);
  try {
    const root = h(Fragment, null, markup);
    if (!part) return renderToString(root);
    return renderToString(Object.assign(root, { __m: [part.ids, 0] }), part.context); // as in `numberIds` of view.ts
  } finally {
    setActiveRender(previous);
    hideTemplate(state);
    restoreProps(state);
  }
}

/**
 * Gives all elements their own props again. An application may create markup once, for all requests: without this, the
 * next request would show what the user of this one has typed, and the CSRF token.
 */
function restoreProps({ replacedProps }: RenderState): void {
  if (replacedProps.size === 0) return;
  for (const [vnode, props] of replacedProps) vnode.props = props;
  replacedProps.clear();
}

/** The components that are bodies of views: their markup is hydrated in the browser. */
const viewBodies = new WeakSet<object>();

/** Registers a component as the body of a view. */
export function registerViewBody(component: object): void {
  viewBodies.add(component);
}

/** The result of {@link synchronousComponent}, by component. */
const synchronousComponents = new WeakMap<object, ComponentType>();

/** Returns a component with the same result, which throws an error with its name if the result is a promise. */
function synchronousComponent(type: ComponentType): ComponentType {
  const existing = synchronousComponents.get(type);
  if (existing) return existing;
  // A class component is called by its `render` method, a function component with the component as `this`.
  const isClass = typeof type.prototype?.render === "function";
  const name = type.displayName || type.name;
  const call = type as (this: unknown, props: unknown, context: unknown) => unknown; // not a class, see below
  const wrapped = isClass
    ? type
    : Object.assign(
        function (this: unknown, props: unknown, context: unknown) {
          const markup = callComponent(type, () => call.call(this, props, context));
          checkSynchronous(name || "A component", markup);
          if (getActiveRender()?.development) checkRenderable(markup, name || "a component");
          return markup;
        },
        type,
        { displayName: viewBodies.has(type) ? "" : name },
      );
  const component = wrapped as ComponentType; // same parameters and result as `type`
  synchronousComponents.set(type, component);
  synchronousComponents.set(component, component);
  if (viewBodies.has(type)) viewBodies.add(component);
  return component;
}

/** @throws MarkupError in place of an error that does not name its cause: of React's hooks, and of a component that suspends */
function callComponent(type: ComponentType, render: () => unknown): unknown {
  try {
    return render();
  } catch (error) {
    if (isReactHookError(error)) throw new MarkupError(reactMessage(type), undefined, { cause: error });
    if (isPreactCopyError(error)) throw new MarkupError(preactCopyMessage(type), undefined, { cause: error });
    if (!isPromise(error)) throw error;
    throw new MarkupError(
      `${type.displayName || type.name || "A component"} suspended: it threw a promise, to be rendered again later. ` +
        "Pages are rendered synchronously. Load the data in the page function, or render the component after on_mount.",
    );
  }
}

/** Replaces the numbers in the `style` of an element by texts, as `tsweb/styles` does in the browser. */
function addUnits(vnode: VNode): void {
  const style: unknown = "style" in vnode.props ? vnode.props.style : undefined;
  if (typeof style !== "object" || style === null) return;
  const texts = withUnits(style);
  if (texts !== style) Object.assign(vnode, { props: { ...vnode.props, style: texts } }); // the props have the same types
}

// The renderer calls these hooks before and after every node. Outside the rendering of a page they only add units.
const hooks = options as typeof options & { __b?: (vnode: VNode) => void }; // Preact's types omit __b
const { __b: previousBefore, diffed: previousAfter, unmount: unmountHook } = hooks;
const hadOtherHooks = [previousBefore, previousAfter, unmountHook].some((hook) => hook && readsNode(hook));

function beforeNode(vnode: VNode): void {
  const active = getActiveRender();
  if (active) {
    hideTemplate(active);
    // The development runtime of JSX sets __source, which Preact's types omit.
    if (active.development) active.location = (vnode as { __source?: ElementLocation }).__source ?? active.location;
    if (typeof vnode.type === "string") {
      if (!showTemplate(vnode, active)) prepareOwnProps(vnode, vnode.type, active);
    } else if (vnode.type === Fragment) {
      checkNoPromise(vnode);
      if (active.development) checkChildren(vnode);
    } else {
      checkReactType(vnode);
      if (viewBodies.has(vnode.type)) active.viewDepth++;
      vnode.type = synchronousComponent(vnode.type as ComponentType); // not a string, checked above
    }
  } else if (typeof vnode.type === "string") addUnits(vnode); // markup that is rendered ahead of time
  previousBefore?.(vnode);
}
hooks.__b = beforeNode;

/**
 * Gives the node of a template its HTML. Elements of forms, attributes with URLs of scripts and promises are never part of
 * it, so that {@link prepareElement} has nothing to do for its elements. In development, which checks all elements, there
 * are no templates.
 *
 * @returns whether the node has its HTML
 */
function showTemplate(vnode: VNode, active: RenderState): boolean {
  if (!isTemplateNode(vnode) || active.development || hasOtherHooks()) return false;
  const html = writeTemplate(vnode, containsPromise);
  if (!html) return false;
  vnode.showHtml(html);
  active.shownTemplate = vnode;
  return true;
}

/** Ends {@link showTemplate}: by the next node, the renderer has read the HTML. Components may inspect the node again. */
function hideTemplate(active: RenderState): void {
  active.shownTemplate?.hideHtml();
  active.shownTemplate = undefined;
}

/** Returns whether hooks of other code see nodes: they may change an element, so that there are no templates. */
function hasOtherHooks(): boolean {
  return (
    hadOtherHooks ||
    hooks.vnode !== undefined ||
    hooks.__b !== beforeNode ||
    hooks.diffed !== afterNode ||
    hooks.unmount !== unmountHook
  );
}

/** Prepares an element whose props may be replaced: {@link restoreProps} gives it its own again. */
function prepareOwnProps(vnode: VNode, type: string, active: RenderState): void {
  const { replacedProps } = active;
  // An element that is used twice has the props for its place before.
  const earlier = replacedProps.size > 0 ? replacedProps.get(vnode) : undefined;
  if (earlier) vnode.props = earlier;
  const { props } = vnode;
  try {
    prepareElement(vnode, type, active);
  } finally {
    if (vnode.props !== props) replacedProps.set(vnode, props);
  }
}

function prepareElement(vnode: VNode, type: string, active: RenderState): void {
  if (type === "form") openForm(vnode, active);
  else if (active.forms.open || type === "button" || type === "input") prepareField(vnode, type, active);
  if (type === "select" || type === "option") prepareSelection(vnode, active);
  checkNoPromise(vnode);
  removeScriptUrls(vnode, type, active.warn);
  addUnits(vnode);
  if (active.development) {
    checkChildren(vnode);
    checkNesting(vnode, type, active);
    checkProps(vnode, type);
    if (active.viewDepth === 0) checkHandlers(vnode);
  }
  removeTextHandlers(vnode, type); // after the checks, which report them
  // The props of an element, as they are rendered.
  if (dropsLineFeed(type)) vnode.props = keepLineFeed(type, vnode.props) as VNode["props"];
}

function afterNode(vnode: VNode): void {
  const active = getActiveRender();
  if (active) {
    if (vnode.type === "form" || vnode.type === "select") closeForm(vnode, active);
    else if (typeof vnode.type === "function" && viewBodies.has(vnode.type)) active.viewDepth--;
  }
  previousAfter?.(vnode);
}
hooks.diffed = afterNode;

import "preact/hooks"; // sets its hooks, so that those which are set later are of other code

/**
 * Returns whether a hook of Preact's `options` reads more of a node than its component, as the hooks of `preact/hooks` do.
 * Such a hook may change elements. Errs towards yes.
 */
function readsNode(hook: (vnode: VNode) => void): boolean {
  let isRead = false;
  const get = (_target: object, name: string | symbol) => {
    isRead ||= name !== "__c"; // Preact's internal field of the component, under its minified name
    return undefined;
  };
  try {
    hook(new Proxy({}, { get }) as VNode); // a node of which only reads are of interest
  } catch {
    return true; // it needs a real node
  }
  return isRead;
}
