/**
 * The development server in Chromium: how errors are shown, and what happens when they are fixed.
 */
import { afterAll, afterEach, expect, it } from "vitest";
import {
  closeHome,
  edit,
  expectStateKept,
  isSamePage,
  lineOf,
  openHome,
  openPage,
  project,
  recordOutput,
  showHome,
  takeProblems,
  waitForEdits,
  waitForEffect,
} from "./dev-project.ts";

export function testErrors(): void {
  afterEach(() => {
    takeProblems(); // browsers report every response with 500
  });

  afterAll(async () => {
    await closeHome();
    takeProblems(); // those that the home page has reported late
  });

  it("in a page is shown with its location, and the page is reloaded when it is fixed", async () => {
    const page = await openPage();
    const output = recordOutput();
    expect((await page.goto("/broken?now"))?.status()).toBe(200);
    expect((await page.goto("/broken?now=1"))?.status()).toBe(500);
    expect(await page.textContent("h1")).toBe("Broken on purpose");
    const line = lineOf("pages.server.tsx", "Broken on purpose");
    const shown = await page.locator("main").innerText();
    expect(shown).toContain(`src/pages.server.tsx:${line}:`);
    expect(shown).toMatch(new RegExp(`> +${line} \\|   if \\(request\\.query\\.now\\) throw new Error`));
    expect(shown).toMatch(new RegExp(`at .*\\(src/pages\\.server\\.tsx:${line}:\\d+\\)`));
    expect(output()).toContain(`Error: Broken on purpose\nsrc/pages.server.tsx:${line}:`);
    expect(output()).not.toContain("    at ");

    edit("pages.server.tsx", 'throw new Error("Broken on purpose")', "return <h1>Fixed</h1>");
    await page.locator("h1", { hasText: "Fixed" }).waitFor();
  });

  it("is logged once while its page stays open", async () => {
    const page = await openPage();
    const output = recordOutput();
    await page.goto("/broken?now=1");
    await page.waitForResponse((response) => response.url().endsWith("/__web/dev/@tsweb/edits"));
    await page.waitForResponse((response) => response.url().endsWith("/__web/dev/@tsweb/edits"));
    expect(output().match(/The page \/broken failed/g)).toHaveLength(1);
  });

  it("in an open page replaces the page until it is fixed", async () => {
    const page = await showHome();
    const restore = edit("pages.server.tsx", "<h1>Home page</h1>", "<h1>{request.nothing.at.all}</h1>");
    await page.locator("h1", { hasText: "Cannot read properties of undefined" }).waitFor();
    expect(await page.locator("main").innerText()).toContain("src/pages.server.tsx:");
    restore();
    await page.locator("h1", { hasText: "Home page" }).waitFor();
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it.each([
    ["app.ts", 'title: "Site",', 'title: "Site" oops,', "app.ts"],
    ["pages.server.tsx", 'import "./pages.css";', 'import "./nowhere.ts";', "nowhere"],
    ["pages.server.tsx", 'import "./pages.css";', 'import "no-such-package";', "npm install no-such-package"],
    ["pages.server.tsx", "export const plain =", "export const plain = server(() => 1, 2, 3) ??", "pages.server.tsx"],
    ["functions.server.ts", "(name: string) =>", "(...name: string[]) =>", "rest"],
  ])(
    "in %s (%s → %s) is shown with its location, in the page and in the terminal, until it is fixed",
    async (...row) => {
      const [file, search, replacement, expected] = row;
      const page = await showHome();
      const output = recordOutput();
      const restore = edit(file, search, replacement);
      await page.locator("h2", { hasText: "Stack" }).waitFor();
      const shown = await page.locator("main").innerText();
      expect(shown).toContain(expected);
      expect(shown).toMatch(/src\/[\w.-]+:\d+:\d+/);
      expect(shown).toMatch(/\^/);
      expect(output()).toContain(expected);
      restore();
      await page.locator("#counter[data-hydrated=true]").waitFor();
    },
  );

  it("in the list of modules is shown until it is fixed", async () => {
    const page = await showHome();
    const restore = edit("app.ts", "[pages, functions]", "[pages]");
    await page.locator("h1", { hasText: "src/counter.tsx calls greet of src/functions.server.ts" }).waitFor();
    restore();
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it("about a missing file is fixed by creating the file", async () => {
    const page = await showHome();
    edit("pages.server.tsx", 'import "./pages.css";', 'import "./pages.css";\nimport "./late.ts";');
    await page.locator("h2", { hasText: "Stack" }).waitFor();
    project.write("src/late.ts", "export const late = true;\n");
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it("in browser code is shown in an overlay and in the terminal, until it is fixed", async () => {
    const page = await openHome();
    const output = recordOutput();
    const restore = edit("counter.tsx", "import { greet }", "import { greet, hidden }");
    const overlay = page.locator("vite-error-overlay");
    await overlay.waitFor();
    const shown = (await overlay.locator(".window").innerText()).replaceAll("\u00a0", " ");
    expect(shown).toContain("hidden");
    expect(shown).toMatch(/counter\.tsx:4:\d+/);
    expect(shown).toContain("^^^^^^");
    expect(output()).toContain("counter.tsx:4");
    restore();
    await overlay.waitFor({ state: "detached" });
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it.each([
    ["in its code", "const own =", "const own = = "],
    ["in its markup", "</section>", ""],
  ])("of syntax in a view (%s) is shown in an overlay until it is fixed, and the state is kept", async (...row) => {
    const [, search, replacement] = row;
    const page = await openHome();
    const restore = edit("counter.tsx", search, replacement);
    const overlay = page.locator("vite-error-overlay");
    await overlay.waitFor();
    expect(await overlay.locator(".file").innerText()).toContain("src/counter.tsx:");
    takeProblems(); // the browser reports that it could not load the module
    edit("counter.tsx", "More\n", "Still more\n"); // the error is still there
    await waitForEdits();
    await expectStateKept(page);
    restore();
    await overlay.waitFor({ state: "detached" });
    await expectStateKept(page);
  });

  it("of the application in an edited view is shown in an overlay until it is fixed, and the state is kept", async () => {
    const page = await openHome();
    const thrown = 'if (typeof document === "undefined") throw new Error("Not on the server");\n';
    const restore = edit("counter.tsx", "export const Counter", `${thrown}export const Counter`);
    const overlay = page.locator("vite-error-overlay");
    await overlay.waitFor();
    expect(await overlay.locator(".message-body").innerText()).toBe("Error: Not on the server");
    expect(await overlay.locator(".file").innerText()).toBe("src/counter.tsx:7:44");
    restore();
    await overlay.waitFor({ state: "detached" });
    await expectStateKept(page);
  });

  it.each([
    [
      "localStorage in its body",
      "  const own =",
      '  localStorage.getItem("theme");\n  const own =',
      "localStorage",
      "localStorage",
    ],
    [
      "a form in a form",
      '<p id="greeting">',
      '<form><i><form /></i></form><p id="greeting">',
      "<form> cannot be inside <form>",
      "<form><i>",
    ],
  ])(
    "of an edited view on the server only (%s) is shown in an overlay until it is fixed, and the state is kept",
    async (...row) => {
      const [, search, replacement, message, text] = row;
      const page = await openHome();
      const output = recordOutput();
      const restore = edit("counter.tsx", search, replacement);
      const overlay = page.locator("vite-error-overlay");
      await overlay.waitFor();
      const location = `src/counter.tsx:${lineOf("counter.tsx", text)}:`;
      expect(await overlay.locator(".message-body").innerText()).toContain(message);
      expect(await overlay.locator(".file").innerText()).toContain(location);
      expect(output().split(location)).toHaveLength(2);
      restore();
      await overlay.waitFor({ state: "detached" });
      await expectStateKept(page);
    },
  );

  it("of the application in a server module, after an edit of a view, replaces the page until it is fixed", async () => {
    const page = await showHome();
    const source = project.read("src/counter.tsx");
    const restore = edit("counter.tsx", source, source.replace("= view((", "= ((").replace(/\}\);\n$/, "});\n"));
    await page.locator("h2", { hasText: "Stack" }).waitFor();
    expect(await page.locator("main").innerText()).toContain("src/pages.server.tsx:");
    restore();
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it("in browser code is shown to a page that is opened later, which is reloaded when it is fixed", async () => {
    const restore = edit("counter.tsx", "import { greet }", "import { greet, hidden }");
    const page = await openPage();
    await page.goto("/");
    await page.locator("vite-error-overlay").waitFor();
    restore();
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it("of a view in the browser only is shown in an overlay, and does not affect other views", async () => {
    const page = await openPage();
    const output = recordOutput();
    const restore = edit(
      "counter.tsx",
      "  const own =",
      '  if (typeof document === "object") throw new Error("Only here");\n  const own =',
    );
    await page.goto("/");
    const overlay = page.locator("vite-error-overlay");
    await overlay.waitFor();
    const shown = await overlay.locator(".window").innerText();
    const location = `src/counter.tsx:${lineOf("counter.tsx", "Only here")}:43`;
    for (const text of ["Cannot start view Counter", "Error: Only here", location]) expect(shown).toContain(text);
    expect(output()).toContain(`Error: Only here\n${location}\n`);
    await page.keyboard.press("Escape");
    await overlay.waitFor({ state: "detached" });
    await expect
      .poll(async () => {
        await page.click("#note"); // before hydration, the click has no effect
        return page.textContent("#note");
      })
      .toBe("Open");
    restore();
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it.each([
    [
      "a component",
      "badge.tsx",
      { correct: "  return", broken: '  if (text) throw new Error("Broken");\n  return' },
      { fixed: '  text += " (fixed)";\n  return', keepsState: true },
    ],
    [
      "a new component",
      "counter.tsx",
      { correct: '<Badge text="Badge" />', broken: '<Badge text="New" /><Badge text="Badge" />' },
      { fixed: '<Badge text="Badge (fixed)" />', keepsState: false },
    ],
  ])("of %s inside a view in an open page is fixed by an edit", async (...row) => {
    const [, file, { correct, broken }, { fixed, keepsState }] = row;
    const throwIfNew = '  if (text === "New") throw new Error("Broken");\n  return';
    await waitForEffect(() => edit("badge.tsx", "  return", throwIfNew));
    const page = await openHome();
    edit(file, correct, broken);
    await page.locator("vite-error-overlay").waitFor();
    edit(file, broken, fixed);
    // The overlay is closed before the component is replaced. A click in between would fail, and reload the page later.
    await page.locator("#badge", { hasText: "Badge (fixed)" }).waitFor();
    await page.locator("#counter[data-hydrated=true]").waitFor();
    expect(await isSamePage(page)).toBe(keepsState);
    const count = Number(await page.textContent("#count"));
    expect(count).toBe(keepsState ? 4 : 3);
    await page.click("#more");
    expect(await page.textContent("#count")).toBe(String(count + 1));
    expect(await page.locator("#counter > *").count()).toBe(7);
    expect(await page.locator("vite-error-overlay").count()).toBe(0);
  });

  it("in an event handler closes its overlay when it is fixed, and keeps the state", async () => {
    const page = await openHome();
    const restore = edit("counter.tsx", "() => own.count++", '() => {\n  throw new Error("A click");\n}');
    const overlay = page.locator("vite-error-overlay");
    await expect
      .poll(async () => {
        await page.locator("#more").dispatchEvent("click"); // also below the overlay
        return overlay.count();
      })
      .toBe(1);
    expect(await overlay.locator(".file").innerText()).toBe(`src/counter.tsx:${lineOf("counter.tsx", "A click")}:9`);
    restore();
    await overlay.waitFor({ state: "detached" });
    expect(await isSamePage(page)).toBe(true);
    expect(await page.inputValue("#name")).toBe("Ada");
  });
}
