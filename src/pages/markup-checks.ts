import { Component, type VNode } from "preact";
import { isPromise } from "../http/index.ts";
import {
  invalidPropMessage,
  isReactElement,
  isReactType,
  reactMessage,
  scriptUrlAttributes,
  unrenderableMessage,
} from "../protocol/index.ts";
import { describeLocation, getActiveRender, locationOf, MarkupError, type RenderState } from "./render-state.ts";

/**
 * Removes event handlers of JSX, such as `onClick`, that are no functions. The renderer would write them as attributes, and
 * HTML does not distinguish `onClick` from `onclick`: the value, which may be the data of a user, would be the code of an
 * inline handler. The content security policy forbids those too, but an application can weaken it.
 *
 * Attributes in lower case are those of HTML, which an application writes on purpose. Custom elements have the events of all elements,
 * and may define others: the values of these stay.
 */
export function removeTextHandlers(vnode: VNode, type: string): void {
  for (const name in vnode.props) {
    if (!isTextHandler(type, name, vnode.props[name as never])) continue; // a key of the object
    vnode.props = Object.fromEntries(
      Object.entries(vnode.props).filter(([key, value]) => !isTextHandler(type, key, value)),
    ) as VNode["props"]; // a subset of the props
    return;
  }
}

/**
 * Returns whether an attribute is an event handler in any spelling but that of HTML. Each attribute of each page is tested, so the
 * name comes first: few begin like this.
 */
function isTextHandler(type: string, name: string, value: unknown): boolean {
  if ((name.charCodeAt(0) | LOWER_CASE) !== 0x6f || (name.charCodeAt(1) | LOWER_CASE) !== 0x6e) return false;
  const attribute = name.toLowerCase();
  if (!/^on[a-z]/.test(attribute) || name === attribute || typeof value === "function") return false;
  return !type.includes("-") || EVENTS_OF_ALL_ELEMENTS.has(attribute.slice(2));
}

/**
 * The events for which each element has an attribute.
 *
 * @see https://html.spec.whatwg.org/#event-handlers-on-elements,-document-objects,-and-window-objects
 */
const EVENTS_OF_ALL_ELEMENTS: ReadonlySet<string> = new Set(
  (
    "abort animationcancel animationend animationiteration animationstart auxclick beforecopy beforecut beforeinput beforematch " +
    "beforepaste beforetoggle beforexrselect blur cancel canplay canplaythrough change click close command " +
    "contentvisibilityautostatechange contextlost contextmenu contextrestored copy cuechange cut dblclick drag dragend dragenter " +
    "dragexit dragleave dragover dragstart drop durationchange emptied ended error focus focusin focusout formdata fullscreenchange " +
    "fullscreenerror gesturechange gestureend gesturestart gotpointercapture input invalid keydown keypress keyup load loadeddata " +
    "loadedmetadata loadend loadstart lostpointercapture mousedown mouseenter mouseleave mousemove mouseout mouseover mouseup " +
    "mousewheel paste pause play playing pointercancel pointerdown pointerenter pointerleave pointermove pointerout pointerover " +
    "pointerrawupdate pointerup progress ratechange reset resize scroll scrollend scrollsnapchange scrollsnapchanging search " +
    "securitypolicyviolation seeked seeking select selectionchange selectstart show slotchange stalled submit suspend timeupdate " +
    "toggle touchcancel touchend touchmove touchstart transitioncancel transitionend transitionrun transitionstart volumechange " +
    "waiting webkitanimationend webkitanimationiteration webkitanimationstart webkitfullscreenchange webkitfullscreenerror " +
    "webkitmouseforcechanged webkitmouseforcedown webkitmouseforceup webkitmouseforcewillbegin webkittransitionend wheel"
  ).split(" "),
);

/** The bit by which an ASCII letter in lower case differs from the same letter in upper case. */
const LOWER_CASE = 0x20;

/**
 * Removes attributes whose URL would run a script when a user clicks: `href="javascript:…"`, for example from a stored
 * profile. The content security policy forbids such scripts too, but an application can weaken it.
 */
export function removeScriptUrls(vnode: VNode, type: string, warn: RenderState["warn"]): void {
  const names = scriptUrlAttributes(type, vnode.props);
  if (!names) return;
  const props: Record<string, unknown> = { ...vnode.props };
  for (const name of names) {
    const url = JSON.stringify(String(props[name]).slice(0, 60));
    delete props[name];
    warn?.(
      `The attribute ${name} of <${type}> is left out: its URL ${url} would run as a script of the page. Accept only ` +
        `URLs that start with "https:", "http:" or "/", and use an event handler to run code.${describeLocation(getActiveRender()?.location)}`,
    );
  }
  Object.assign(vnode, { props }); // without the attributes, the props have the same types
}

/** @throws MarkupError if an element is of a component that React has created */
export function checkReactType({ type }: VNode): void {
  if (isReactType(type, Component)) throw new MarkupError(reactMessage(type));
}

/** @throws MarkupError if the result of a component or a view is a promise, or an array that contains one */
export function checkSynchronous(name: string, markup: unknown): void {
  if (!containsPromise(markup)) return;
  const place = getActiveRender()?.parts.rendered ? "the function of <Later>" : "the page function";
  throw new MarkupError(
    `${name} returned a promise. Components are synchronous: load the data in ${place}, which may be async, and pass it down.`,
  );
}

/** @throws MarkupError if an element outside a view has an event handler, because nothing would call it */
export function checkHandlers({ type, props }: VNode): void {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value !== "function" || name === "ref" || name === "children") continue;
    throw new MarkupError(
      `The prop ${name} of <${String(type)}> is a function, which is never called outside a view. ` +
        "Move the element into a view().",
    );
  }
}

/** @throws MarkupError if an attribute of an element of the application cannot work */
export function checkProps(vnode: VNode, type: string): void {
  const location = locationOf(vnode);
  if (!location || location.fileName.includes("/node_modules/")) return;
  const message = invalidPropMessage(type, vnode.props);
  if (message) throw new MarkupError(message, location);
}

/** @throws MarkupError if a child of an element or a fragment cannot be rendered, because the renderer ignores it silently */
export function checkChildren({ type, props: { children } }: VNode): void {
  checkRenderable(children, `<${nameOf(type)}>`);
}

/** @throws MarkupError if markup contains an object. Promises have a message of their own. */
export function checkRenderable(markup: unknown, where: string): void {
  for (const child of [markup].flat(Infinity)) {
    const message = unrenderableMessage(child, where);
    if (message) throw new MarkupError(message);
  }
}

/** @throws MarkupError if a child of an element is a promise. Without this, a page would lack its text in production. */
export function checkNoPromise({ type, props: { children } }: VNode): void {
  if (!containsPromise(children)) return;
  throw new MarkupError(
    `A promise cannot be rendered in <${nameOf(type)}>. Await it in the page function, which may be async, and pass the ` +
      "result down. In a view, call the server function in an event handler or in on_mount.",
  );
}

/**
 * Returns whether markup is a promise, or a list that contains one.
 *
 * @throws MarkupError for an element of React, of which the renderer would show nothing
 */
export function containsPromise(child: unknown): boolean {
  if (typeof child !== "object" || child === null || typeof child.constructor !== "function") return false; // text, or markup
  if (!Array.isArray(child)) {
    // Checked here because this function visits everything that is rendered, in production too.
    if (isReactElement(child)) throw new MarkupError(reactMessage(child.type));
    return isPromise(child);
  }
  for (const item of child) if (typeof item === "object" && containsPromise(item)) return true;
  return false;
}

/** Returns the name of an element, empty for a fragment, as in JSX. */
function nameOf(type: VNode["type"]): string {
  return typeof type === "string" ? type : "";
}
