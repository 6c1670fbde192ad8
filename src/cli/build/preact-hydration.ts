/**
 * The parts of Preact that resume the hydration of a component that has suspended, as texts of its minified module: the start
 * of each, and what follows it. They are a thirtieth of a page with a view (300 bytes with gzip).
 *
 * Only `lazy` and `Suspense` of `preact/compat` need them: a component that the server has rendered may suspend in the browser.
 * Builds with `preact/compat` keep these parts. The server writes no comments of a streamed response.
 */
const PARTS: readonly (readonly [start: string, following: string])[] = [
  // insert(): steps over the comments of a streamed part.
  ['&&!t.data.startsWith("$s")', ";);return t}function O("],
  // diff(): continues with what the server has rendered for the component, and keeps it before.
  ["128&u.__u&&(c=32&u.__u,s=u.__c.__z)&&", "(s=n.__b)&&s(r);"],
  ["if(t&&t.then){if(r.__u|=128|c,o){", "o&&o.some(g);else r.__e="],
  // rangeEnd(): finds the end of a streamed part.
  ['function B(n,t){if(n&&8==n.nodeType&&n.data.startsWith("$s"))', "function D("],
  // unmount(): removes the comments of a streamed part.
  ["!u&&(i=t.__c)&&(i=i.__z)&&(f=B(", "u||g(t.__e)"],
];

/** Returns the module of Preact without these parts; `undefined` if it is of a version whose text differs. */
export function withoutSuspendedHydration(code: string): string | undefined {
  let text = code;
  for (const [start, following] of PARTS) {
    const from = text.indexOf(start);
    const to = text.indexOf(following, from);
    if (from < 0 || to < 0 || text.indexOf(start, from + 1) >= 0) return undefined;
    text = text.slice(0, from) + text.slice(to);
  }
  return text;
}
