import type { Component } from "preact";
import { afterEach, describe, expect, test, vi } from "vitest";
import { nextRender, TextRoot } from "#test/text-root";
import type { FormSubmission, ViewFormHandle } from "../protocol/index.ts";
import "./dev/development.ts";
import { form } from "./form.ts";

const save = Object.assign(async (name: string) => name, { id: "save", named: async () => "" });
const other = Object.assign(async (name: string) => name, { id: "other", named: async () => "" });

const refused: FormSubmission = {
  name: "save",
  form: "save",
  key: "7",
  values: { name: "typed" },
  error: { code: "conflict", message: "Taken.", details: {} },
  errors: { name: "Taken." },
  result: null,
};

/** A page whose form was sent without script. `getPageData` reads it once, so each test loads the modules again. */
async function openPage(submission?: FormSubmission) {
  vi.resetModules();
  const data = JSON.stringify({ base: "", mark: "m", views: [], ...(submission ? { form: submission } : {}) });
  vi.stubGlobal("document", { querySelector: () => ({ textContent: data }) });
  const modules = { ...(await import("./form.ts")), ...(await import("#test/text-root")) };
  return modules;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Renders forms, and returns their handles. */
async function render(submission: FormSubmission | undefined, keys: readonly (string | number | undefined)[]) {
  const page = await openPage(submission);
  const handles: ViewFormHandle[] = [];
  new page.TextRoot().renderComponent(() => {
    for (const key of keys) handles.push(page.form(save, key === undefined ? {} : { key }));
    return "";
  });
  return handles;
}

describe("the handle of a form", () => {
  test("is empty without a submission", async () => {
    const [handle] = await render(undefined, [undefined]);
    expect(handle).toMatchObject({ values: {}, errors: {}, pending: false, progress: 0 });
    expect(handle?.error).toBeUndefined();
    expect(handle?.result).toBeUndefined();
  });

  test("is not created with an unknown option, which is named", async () => {
    const { TextRoot, form } = await openPage();
    const options: object = { doen: () => {} };
    expect(() => new TextRoot().renderComponent(() => void form(save, options))).toThrow(
      "Unknown option doen in form(). Valid options: key, done.",
    );
  });

  test("starts with the submission of its function and key, which is for one form only", async () => {
    const handles = await render(refused, [undefined, 8, 7, 7]);
    expect(handles.map(({ values }) => values)).toEqual([{}, {}, { name: "typed" }, {}]);
    expect(handles[2]?.errors).toEqual({ name: "Taken." });
    expect(String(handles[2]?.error)).toBe("Taken.");
    expect(handles[2]?.error?.code).toBe("conflict");
  });

  test("starts with the result of a submission that was accepted", async () => {
    const [handle] = await render({ ...refused, key: "", error: null, errors: {}, result: 5 }, [undefined]);
    expect(handle).toMatchObject({ result: 5, values: { name: "typed" }, error: undefined });
  });

  test("can only be created while a component renders", async () => {
    const page = await openPage();
    expect(() => page.form(save)).toThrow("Call form() inside a view");
  });
});

describe("a hot reload", () => {
  /** Renders a component with a form of `save`, replaces its function, and returns the handles before and after. */
  async function edit(replacement: (use: (handle: ViewFormHandle) => void) => () => string) {
    vi.stubGlobal("document", { querySelector: () => ({ textContent: '{"views":[]}' }) });
    const handles: ViewFormHandle[] = [];
    let component: Component | undefined;
    new TextRoot().renderComponent(function Before(this: Component) {
      component = this;
      handles.push(form(save));
      return "";
    });
    if (!component) throw new Error("No component was rendered.");
    component.constructor = replacement((handle) => handles.push(handle));
    component.forceUpdate();
    await nextRender();
    return handles;
  }

  test("keeps the state of a form", async () => {
    const handles = await edit((use) => () => {
      use(form(save));
      return "edited";
    });
    expect(handles.length).toBeGreaterThan(1);
    expect(handles.at(-1)).toBe(handles[0]);
  });

  test("resets the state of a form of another function", async () => {
    const [before, after] = await edit((use) => () => {
      use(form(other));
      return "edited";
    });
    expect(after).toBeDefined();
    expect(after).not.toBe(before);
  });
});
