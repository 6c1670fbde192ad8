/**
 * The ids of builds. Used by the build, the server and the browser.
 *
 * @see docs/protocol.md 3.9
 */

/** The id of a build, as a page carries it with a live request. */
export const BUILD_ID = /^[0-9a-z]{13}$/;

/** What a page carries with a call, or a form in its address: the id of its build, and the hash of the function. */
export const BUILD_VERSION = /^([0-9a-z]{13})\.([\w-]{6})$/;

/** Which side is of an older build when a call cannot be handled: the page that has sent it, or the server. */
export type StaleSide = "page" | "server";
