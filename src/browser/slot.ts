import { type Component, options, type VNode } from "preact";

/** A component with internal fields: Preact's, under the minified names that its add-ons use, and ours. */
interface ComponentInternals extends Component {
  /** Callbacks that run once, after the elements of the component are in the page. */
  __h: (() => void)[];
  /** The values of {@link slot}, in the order of the calls. */
  slots?: unknown[];
}

/** Preact's hooks that its types omit. Its own add-ons use them, so they are stable across releases. */
interface OptionsInternals {
  /** Called before a component renders. */
  __r?: (vnode: VNode & { __c?: ComponentInternals }) => void;
  /** Called after a rendering is complete. */
  __c?: (...args: unknown[]) => void;
}

const hooks = options as OptionsInternals; // see OptionsInternals
const { __r: previousRender, __c: previousCommit } = hooks;

let current: ComponentInternals | undefined;
let next = 0;

hooks.__r = (vnode) => {
  previousRender?.(vnode);
  current = vnode.__c;
  next = 0;
};

// Clears the component, also after a failed rendering on the server. Otherwise a call outside rendering could attach
// its state to a component of another user's page.
hooks.__c = (...args) => {
  current = undefined;
  previousCommit?.(...args);
};

/**
 * Returns a value of the component that is being rendered: created at its first rendering, the same object at later
 * ones. Calls are identified by their order, as in `preact/hooks`; this is a sixth of its size, and both may be used
 * together.
 *
 * The value is stored on the component itself, which survives hot reload.
 *
 * @param caller the name of the public function, for the error
 * @throws Error if no component is being rendered
 */
export function slot<T extends object>(caller: string, create: (component: ComponentInternals) => T): T {
  if (!current) {
    throw new Error(`Call ${caller}() inside a view`);
  }
  current.slots ??= [];
  const slots = current.slots as T[]; // a slot is always used by the same call
  // biome-ignore lint/suspicious/noAssignInExpressions: shorter in the browser
  return (slots[next++] ??= create(current));
}

/** Calls `callback` after the component that is being rendered is in the page. */
export function afterRender(callback: () => void): void {
  current?.__h.push(callback);
}
