import type { VNode } from "preact";

/** What a page or a component returns: elements, text, nothing, or a list of these. Never a promise. */
// biome-ignore lint/suspicious/noExplicitAny: an element of any component
export type Markup = VNode<any> | string | number | bigint | boolean | null | undefined | readonly Markup[];
