import { type Component, options, type VNode } from "preact";

/** A component as it lives, with Preact's own fields under their published names: its add-ons go by them. */
interface Living extends Component {
  /** What is called once its elements are in the page. */
  __h: (() => void)[];
  /** What `slot` keeps for it, in the order of the calls. */
  slots?: unknown[];
}

interface Hooks {
  __r?: (vnode: VNode & { __c?: Living }) => void;
  __c?: (...args: unknown[]) => void;
}

const hooks = options as Hooks; // these are not in the published type
const { __r: earlierRender, __c: earlierCommit } = hooks;

let current: Living | undefined;
let next = 0;

hooks.__r = (vnode) => {
  earlierRender?.(vnode);
  current = vnode.__c;
  next = 0;
};

// At the end of a rendering, on the server of one that failed too: no component is left behind for
// what comes next, another visitor's module or page.
hooks.__c = (...args) => {
  current = undefined;
  earlierCommit?.(...args);
};

/**
 * Keeps something for the component being rendered: made at its first rendering, the same at every
 * later one. It is what `preact/hooks` does, a sixth of its size; both may be used together.
 *
 * It hangs on the component itself, which hot reload keeps.
 *
 * @param caller the name to blame
 * @throws Error outside of rendering
 */
export function slot<T extends object>(caller: string, make: (component: Living) => T): T {
  if (!current) {
    throw new Error(`${caller}() belongs inside a view`);
  }
  current.slots ??= [];
  const slots = current.slots as T[]; // each place is always asked for by the same call
  slots[next] ??= make(current);
  return slots[next++] as T; // made above
}

/** Calls `run` once the component being rendered is in the page. */
export function afterRender(run: () => void): void {
  current?.__h.push(run);
}
