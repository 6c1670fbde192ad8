import { type Component, options, type VNode } from "preact";
import { componentName } from "./dev/component-name.ts";

/** A component with internal fields: Preact's, under the minified names that its add-ons use, and ours. */
interface ComponentInternals extends Component {
  /** Callbacks that run once, after the elements of the component are in the page. */
  __h: (() => void)[];
  /** The values of {@link slot}, in the order of the calls. */
  slots?: unknown[];
  /** In development: the names of the functions that have created the slots. */
  callers?: string[];
  /** The number of renderings since the last microtask, or one more; each that has failed counts for ten. */
  count: number;
  /** In development: the number of renderings since the last microtask, or one more. */
  renderings?: number;
}

/** A node with internal fields: the node around it, and its component, if it is of one. */
interface NodeInternals {
  readonly __: NodeInternals;
  readonly __c: ComponentInternals | null;
}

/** Preact's hooks that its types omit. Its own add-ons use them, so they are stable across releases. */
interface OptionsInternals {
  /** Called before a component renders. */
  __r?: (vnode: VNode & { __c: ComponentInternals }) => void;
  /** Called after a rendering is complete. */
  __c?: (...args: unknown[]) => void;
  /** Called with an error of a rendering, an effect or a ref; for a rendering, also for each component around it. */
  __e: (error: unknown, node: NodeInternals, ...rest: unknown[]) => void;
}

const hooks = options as unknown as OptionsInternals; // see OptionsInternals
const { __r: previousRender, __c: previousCommit, __e: previousCatch } = hooks;

let current: ComponentInternals | undefined;
let next = 0;

hooks.__r = (vnode) => {
  previousRender?.(vnode);
  current = vnode.__c;
  next = 0;
  countRendering(current);
};

/**
 * Throws if a component is rendered again and again within one task of the page: each rendering changes what it depends on,
 * for example because it assigns to a state. Preact would never end, and the page would not respond. After ten errors in a
 * row it throws as well: each of these renderings may have changed the state before it failed.
 *
 * Preact renders all pending changes, also those of the renderings themselves, before the next microtask. So changes that
 * are made one after the other, for example for each value of a stream, are not counted. After an error, Preact continues in
 * a microtask, so a rendering that fails keeps the count.
 */
function countRendering(component: ComponentInternals): void {
  // The check for endless changes uses it. Bundlers remove this from production.
  if (process.env.NODE_ENV !== "production") {
    component.renderings = (component.renderings ?? 0) + 1;
    if (component.renderings > 1) {
      queueMicrotask(() => {
        component.renderings = 0;
      });
    }
  }
  // biome-ignore lint/suspicious/noAssignInExpressions: shorter in the browser; -~undefined is 1
  const count = (component.count = -~component.count);
  if (count > 99) {
    component.count = 0; // a later change is rendered again
    // Bundlers shorten the message in production.
    throw new Error(process.env.NODE_ENV === "production" ? "Render loop" : renderLoopMessage(component));
  }
  // The first rendering needs no microtask; on the server it is the only one.
  if (count > 1) {
    queueMicrotask(() => {
      if (component.count === count) component.count = 0;
    });
  }
}

hooks.__e = (error, node, ...rest) => {
  let owner = node; // that of a ref is an element
  while (!owner.__c) owner = owner.__;
  owner.__c.count += 9;
  previousCatch(error, node, ...rest);
};

function renderLoopMessage(component: ComponentInternals): string {
  return (
    `${componentName(component)} is rendered again and again: each rendering, or a ref or an effect of it, changes its ` +
    "state. Change state in an event handler or in on_mount."
  );
}

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
    const fix = process.env.NODE_ENV === "production" ? "" : MISPLACED;
    throw new Error(`Call ${caller}() inside a view${fix}`);
  }
  // Hot reload uses it. Bundlers remove this from production.
  if (process.env.NODE_ENV !== "production") {
    current.callers ??= [];
    current.callers[next] = caller;
  }
  // biome-ignore lint/suspicious/noAssignInExpressions: shorter in the browser
  return ((current.slots ??= [])[next++] ??= create(current)) as T; // a slot is always used by the same call
}

const MISPLACED =
  ", at the top of its function: not in an event handler, in on_mount, after an await or outside of a view.";

/** Calls `callback` after the component that is being rendered is in the page. */
export function afterRender(callback: () => void): void {
  current?.__h.push(callback);
}
