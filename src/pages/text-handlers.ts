import type { VNode } from "preact";

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
