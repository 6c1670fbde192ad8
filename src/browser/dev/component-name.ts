/** A component with the field of Preact, and of its renderer on the server, that has its node. */
interface ComponentInternals {
  readonly constructor: unknown;
  readonly __v?: { readonly type: unknown };
}

/**
 * Returns the name of a component in messages of development. A view has the name of its export, which hot reload
 * registers (`src/compile/hot-update.ts`).
 */
export function componentName(component: object): string {
  const { constructor: own, __v: node } = component as ComponentInternals; // a component
  // On the server a component is a plain object.
  const type = (own === Object ? node?.type : own) as { displayName?: string; name?: string } | undefined;
  return type?.displayName || type?.name || "a view";
}
