import { expect, it } from "vitest";
import { createsReactElements } from "./bundled-react.ts";

/** The JSX runtime of React 19, as bundlers write it into a package. */
const RUNTIME =
  'var e=Symbol.for("react.transitional.element");function n(t,r,o){return{$$typeof:e,type:t,key:o,ref:null,props:r}}export{n as jsx};';

it("recognises the JSX runtime of React of all versions, also when it is minified", () => {
  expect(createsReactElements(RUNTIME)).toBe(true);
  expect(
    createsReactElements(
      "const REACT_ELEMENT_TYPE = Symbol.for('react.element'); x = { $$typeof: REACT_ELEMENT_TYPE }",
    ),
  ).toBe(true);
});

it.each([
  ["code that only tests for elements", 'const isElement = (x) => x?.$$typeof === Symbol.for("react.element");'],
  ["code that imports React", 'import { jsx } from "react/jsx-runtime"; export const A = () => jsx("p", {});'],
  ["elements of Preact", 'const t = Symbol.for("react.element"); options.vnode = (vnode) => { vnode.$$typeof = t; };'],
  ["elements of test renderers", 'const t = Symbol.for("react.test.json"); export const x = { $$typeof: t };'],
])("does not take %s for it", (_, code) => expect(createsReactElements(code)).toBe(false));
