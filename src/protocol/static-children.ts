/**
 * A property of the array of children that are written one after the other in JSX, in development: it is no list, so its
 * elements need no keys. The development runtime of JSX sets it.
 */
export const STATIC_CHILDREN = Symbol.for("tsweb.staticChildren");
