import type { VNode } from "preact";

/**
 * The result of a page or a component: elements, text, nothing, or an array of these. Never a promise. A type of the
 * server's pages and of the browser's views.
 */
// biome-ignore lint/suspicious/noExplicitAny: an element of any component
export type Markup = VNode<any> | string | number | bigint | boolean | null | undefined | readonly Markup[];
