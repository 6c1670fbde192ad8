import { Component, createElement, Fragment } from "preact";
import { describe, expect, test } from "vitest";
import {
  isPreactCopyError,
  isReactElement,
  isReactHookError,
  isReactType,
  preactCopyMessage,
  reactMessage,
} from "./element-checks.ts";

/** Objects as React 18 and 19 create them. */
const element = (version: "element" | "transitional.element", type: unknown) => ({
  $$typeof: Symbol.for(`react.${version}`),
  type,
  props: {},
});

describe("isReactElement", () => {
  test.each([
    ["an element of React 18", element("element", "p"), true],
    ["an element of React 19", element("transitional.element", "p"), true],
    ["a portal of React", { $$typeof: Symbol.for("react.portal"), children: [] }, true],
    ["an element of Preact", createElement("p", null), false],
    [
      "an element of Preact that preact/compat has marked",
      Object.assign(createElement("p", null), { $$typeof: Symbol.for("react.element") }),
      false,
    ],
    ["an object with a string as its $$typeof, as JSON can have", { $$typeof: "react.element" }, false],
    ["an object", { type: "p" }, false],
    ["an object without a prototype", Object.create(null), false],
    ["an array", [], false],
    ["null", null, false],
    ["undefined", undefined, false],
    ["text", "text", false],
  ])("recognizes what React has created, and nothing else: %s", (_what, value, expected) => {
    expect(isReactElement(value)).toBe(expected);
  });
});

describe("isReactType", () => {
  class ReactComponent {
    render() {}
  }
  Object.assign(ReactComponent.prototype, { isReactComponent: {} });

  class PreactComponent extends Component {
    override render() {
      return null;
    }
  }
  // As preact/compat does with the base class.
  const compatClass = class extends PreactComponent {};
  Object.assign(compatClass.prototype, { isReactComponent: {} });
  const compatForwardRef = Object.assign(() => null, {});
  Object.assign(compatForwardRef, { prototype: { isReactComponent: true } });

  test.each<[string, unknown, boolean]>([
    ["memo of React", { $$typeof: Symbol.for("react.memo"), type: () => null }, true],
    ["forwardRef of React", { $$typeof: Symbol.for("react.forward_ref"), render: () => null }, true],
    ["a context of React", { $$typeof: Symbol.for("react.context") }, true],
    ["Suspense of React", Symbol.for("react.suspense"), true],
    ["a class that extends React's Component", ReactComponent, true],
    ["a class that extends Preact's Component", PreactComponent, false],
    ["a class of preact/compat", compatClass, false],
    ["forwardRef of preact/compat", compatForwardRef, false],
    ["a function", () => null, false],
    ["an arrow function, which has no prototype", () => {}, false],
    ["a Fragment of Preact", Fragment, false],
    ["the name of an element", "p", false],
    ["undefined", undefined, false],
  ])("recognizes what React has created, and nothing else: %s", (_what, type, expected) => {
    expect(isReactType(type, Component)).toBe(expected);
  });
});

describe("isReactHookError", () => {
  test.each([
    ["useState in V8", "Cannot read properties of null (reading 'useState')", true],
    ["use in V8", "Cannot read properties of null (reading 'use')", true],
    ["useContext in JavaScriptCore", "null is not an object (evaluating 'dispatcher.useContext')", true],
    ["a property of null", "Cannot read properties of null (reading 'user')", false],
    ["a hook of undefined", "Cannot read properties of undefined (reading 'useState')", false],
    ["a nullable name", "nullable.useState is not a function", false],
  ])("recognizes an error of React's hooks, and no other: %s", (_what, message, expected) => {
    expect(isReactHookError(new TypeError(message))).toBe(expected);
  });

  test("accepts no other kind of error", () => {
    expect(isReactHookError(new Error("Cannot read properties of null (reading 'useState')"))).toBe(false);
    expect(isReactHookError("Cannot read properties of null (reading 'useState')")).toBe(false);
  });
});

describe("isPreactCopyError", () => {
  test.each([
    ["the hooks of another copy", "Cannot read properties of undefined (reading '__H')", true],
    ["another property", "Cannot read properties of undefined (reading '__Hello')", false],
    ["null", "Cannot read properties of null (reading '__H')", false],
  ])("recognizes an error of the hooks of another copy, and no other: %s", (_what, message, expected) => {
    expect(isPreactCopyError(new TypeError(message))).toBe(expected);
  });
});

describe("the messages", () => {
  function Chart() {}

  test.each<[string, unknown, string]>([
    ["an element", "p", "<p> was made with React"],
    ["a function", Chart, "<Chart> was made with React"],
    ["a displayName", Object.assign(() => null, { displayName: "Pie" }), "<Pie> was made with React"],
    ["memo", { $$typeof: Symbol.for("react.memo"), type: Chart }, "<Chart> was made with React"],
    ["forwardRef", { $$typeof: Symbol.for("react.forward_ref"), render: Chart }, "<Chart> was made with React"],
    ["a symbol", Symbol.for("react.suspense"), "<suspense> was made with React"],
    ["an unnamed component", { $$typeof: Symbol.for("react.context") }, "A component was made with React"],
  ])("name the type: %s", (_what, type, expected) => {
    expect(reactMessage(type)).toContain(expected);
  });

  test("contain the command that fixes the problem", () => {
    expect(reactMessage("p")).toContain("npm install react@npm:@preact/compat react-dom@npm:@preact/compat");
    expect(preactCopyMessage(Chart)).toContain("<Chart> uses the hooks of another copy of Preact");
    expect(preactCopyMessage(Chart)).toContain("npm ls preact");
  });
});
