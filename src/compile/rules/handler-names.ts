import { closestName } from "../../text/index.ts";

/** The event handlers that are written most. */
const COMMON = [
  ...[
    "onClick",
    "onDblClick",
    "onSubmit",
    "onReset",
    "onInput",
    "onChange",
    "onFocus",
    "onBlur",
    "onKeyDown",
    "onKeyUp",
  ],
  ...["onMouseDown", "onMouseUp", "onMouseMove", "onMouseEnter", "onMouseLeave", "onMouseOver", "onMouseOut"],
  ...[
    "onPointerDown",
    "onPointerUp",
    "onPointerMove",
    "onPointerEnter",
    "onPointerLeave",
    "onContextMenu",
    "onDragStart",
  ],
  ...["onTouchStart", "onTouchMove", "onTouchEnd", "onScroll", "onDragOver", "onDragEnd", "onPaste"],
];

/** The handlers of other events whose names are similar to a common one. A test compares them with the types of Preact. */
const SIMILAR: ReadonlySet<string> = new Set(["onFocusIn", "onFocusOut", "onKeyPress", "onDrag", "onDrop", "onToggle"]);

/** The longest distance of a misspelled name from the one that is meant. */
const MAX_DISTANCE = 1;

/**
 * Returns the event handler that a misspelled one probably means: `onClick` for `onClik`. `undefined` for the name of an event,
 * and for a name that is not similar to a common one: elements dispatch events of any name.
 *
 * @param attribute the name of an attribute that begins with `on` and a capital letter
 */
export function meantHandler(attribute: string): string | undefined {
  const name = attribute.replace(/Capture$/, "");
  if (SIMILAR.has(name)) return undefined;
  const meant = closestName(name, COMMON, MAX_DISTANCE);
  // Preact ignores the case of the events that elements have.
  return meant?.toLowerCase() === name.toLowerCase() ? undefined : meant;
}
