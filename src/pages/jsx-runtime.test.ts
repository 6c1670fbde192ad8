import { Fragment, h, isValidElement } from "preact";
import { expect, it } from "vitest";
import { jsx } from "./jsx-runtime.ts";

it("creates the nodes of h() for elements, fragments and components", () => {
  const Box = () => null;
  for (const type of ["p", Fragment, Box]) {
    for (const props of [null, {}, { title: "a", children: [1, "b"] }, { ref: () => undefined }]) {
      for (const key of [undefined, "k", 0]) {
        const node = jsx(type as string, props, key); // one overload of h() for all three
        const expected = h(type as string, key === undefined ? props : ({ ...props, key } as object));
        expect(isValidElement(node)).toBe(true);
        expect([node.type, node.props, node.key, node.ref]).toEqual([
          expected.type,
          expected.props,
          expected.key,
          expected.ref,
        ]);
      }
    }
  }
});

it("takes the key of spread props as the key of the node, as h() does", () => {
  const { key, props } = jsx("p", { key: "spread", title: "a" });
  expect([key, props]).toEqual(["spread", { title: "a" }]);
  expect(jsx("p", { key: "spread" }, "own").key).toBe("own");
});

it("does not copy props", () => {
  const props = { title: "a" };
  expect(jsx("p", props).props).toBe(props);
  expect(jsx("p", props, "k").props).toBe(props);
});
