/**
 * Views in the development server and Chromium that the browser renders as the server did, which are not reported, and some that
 * it renders otherwise, or again and again.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { repository } from "#test/copy-example";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";
import { expectLateHydration, LATE_VIEWS } from "./late-views.ts";

const FILES = {
  "tsconfig.json": JSON.stringify({ compilerOptions: { jsx: "react-jsx", jsxImportSource: "tsweb", strict: true } }),
  "src/names.server.ts": `
    import { RPCError, server } from "tsweb";
    export const save = server((name: string) => { throw new RPCError("conflict", "Taken.", { parameter: "name" }); });
    export const remove = server((name: string) => {});
  `,
  "src/views.tsx": `
    import { form, on_mount, state, view } from "tsweb/browser";
    import { useEffect, useId } from "preact/hooks";
    import { remove, save } from "./names.server.ts";

    let created = 0; // packages count ids like this
    const Ready = ({ name }: { name: string }) => {
      on_mount(() => void (document.documentElement.dataset.ready = name));
      return null;
    };

    export const All = view(({ rows }: { rows: string[] }) => {
      const shown = state({ text: "a", time: 0 });
      const id = useId();
      on_mount(() => void (shown.time = Date.now()));
      return (
        <>
          text {shown.time} and {rows.length}{""} {null}{false}
          <input id="text" value={shown.text} onInput={(event) => (shown.text = event.currentTarget.value)} />
          <input type="checkbox" defaultChecked disabled={false} readOnly />
          <select name="letter" value="b"><option value="a">A</option><option value="b">B</option></select>
          <select><option>A</option><option selected>B</option></select>
          <select name="text" defaultValue="B b"><option>A</option><option> B{"  b"}</option></select>
          <select name="own" value={2}>{[1, 2].map((n) => <option key={n}>{n}</option>)}<option selected={false} value="2" /></select>
          <select name="many" multiple defaultValue={["a", "C", 3]}>
            <option value="a">A</option><option value="b">B</option><optgroup label="more"><option>C</option><option>{3}</option></optgroup>
          </select>
          <textarea defaultValue={"\\nx"} rows={2} />
          <p class="a" hidden={false} aria-hidden={false} data-on={true} tabIndex={0}
            style={{ marginTop: shown.time ? 5 : 4, "--own": "1", lineHeight: 1.5, aspectRatio: 2, gridRowStart: 2 }}> a  b {" "}</p>
          <pre>{"\\n\\nx\\r\\ny"}</pre>
          <svg viewBox="0 0 1 1" strokeWidth={2}><path clipRule="evenodd" d="M0 0" /><foreignObject><b /></foreignObject></svg>
          <p dangerouslySetInnerHTML={{ __html: "<b>x</b>" + created }} />
          <label htmlFor={id}>Name</label><input id={id} aria-describedby={"described-" + created++} />
          <video muted autoPlay playsInline />
          <form onSubmit={() => {}}><input name="q" /></form>
          <table><tbody>{rows.map((row) => <tr key={row}><td>{row}</td></tr>)}</tbody></table>
          <Ready name="all" />
        </>
      );
    });

    export const Names = view(() => {
      const saving = form(save);
      return (
        <form action={saving}>
          <input name="name" defaultValue="own" />
          <em>{saving.errors.name}</em>
          <button>Save</button>
          <button formAction={remove}>Remove</button>
          <Ready name="names" />
        </form>
      );
    });

    export const Plain = view(() => (
      <form action={save}><input name="name" /><button>Save</button><Ready name="plain" /></form>
    ));

    export const Local = view(() => <time>{new Date(0).toLocaleString()}<Ready name="local" /></time>);

    export const Ticking = view(() => {
      const s = state({ n: 0 });
      useEffect(() => {
        s.n++;
      });
      return <p>{s.n > 100 && <Ready name="ticking" />}</p>;
    });

    export const Different = view(() => <p>{typeof window}<Ready name="different" /></p>);
  `,
  "src/pages.server.tsx": `
    import { page } from "tsweb";
    import { All, Different, Local, Names, Plain, Ticking } from "./views.tsx";
    export const all = page("/all", () => <All rows={["one", "two"]} />);
    export const names = page("/names", () => <Names />);
    export const plain = page("/plain", () => <Plain />);
    export const local = page("/local", () => <Local />);
    export const ticking = page("/ticking", () => <Ticking />);
    export const different = page("/different", () => <><Different /><Different /></>);
  `,
  "src/app.ts": `
    import { App } from "tsweb";
    import * as late from "./late.server.tsx";
    import * as names from "./names.server.ts";
    import * as pages from "./pages.server.tsx";
    export default new App({ title: "Views", base: "/shop", modules: [late, names, pages] });
  `,
  ...LATE_VIEWS,
};

let project: TestProject;
let dev: RunningServer;
let browser: Browser;
let users: BrowserUsers;

beforeAll(async () => {
  project = TestProject.fromFiles(FILES);
  project.linkPackages(repository, ["preact"]);
  project.write("public/favicon.ico", "");
  dev = await startDev(project.dir, { TZ: "Asia/Tokyo" }); // a server in another time zone than the browser
  browser = await launch();
  users = new BrowserUsers(browser, { baseURL: dev.address });
});

afterEach(() => users.closeAll());

afterAll(async () => {
  await browser?.close();
  const code = await dev?.stop();
  project?.remove();
  expect(code).toBe(0);
});

const waitForView = (page: Page, name: string) => page.locator(`html[data-ready=${name}]`).waitFor();

/** Returns what was reported since the last time: by the browser and in the terminal. */
function takeProblems(): string[] {
  return users.problems.splice(0).filter((problem) => problem.includes("renders other markup"));
}

it("a view whose markup is the same is not reported, whatever kinds of markup it has", async () => {
  const page = await users.reusePage();
  for (const _ of [1, 2]) {
    await page.goto("/shop/all");
    await waitForView(page, "all");
  }
  expect(users.problems.splice(0)).toEqual([]);
  expect(dev.output()).not.toContain("renders other markup");
});

it("a view below the fold is hydrated when it comes near the screen, as in production, below a base", async () => {
  await expectLateHydration(await users.newPage(), "/shop/views");
  expect(users.problems.splice(0)).toEqual([]);
});

it("numbers in a style are lengths on the server, and in the browser after a change", async () => {
  const response = await fetch(`${dev.address}/shop/all`);
  expect(await response.text()).toContain("margin-top:4px;--own:1;line-height:1.5;aspect-ratio:2;grid-row-start:2;");
  const page = await users.reusePage();
  await page.goto("/shop/all");
  await waitForView(page, "all");
  const style = () => page.locator("p.a").getAttribute("style");
  await expect
    .poll(style)
    .toContain("margin-top: 5px; --own: 1; line-height: 1.5; aspect-ratio: 2 / 1; grid-row-start: 2");
});

it("what the user types before the script has loaded is not reported, nor what an extension changes", async () => {
  const page = await users.reusePage();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/src\/views\.tsx/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto("/shop/all", { waitUntil: "commit" });
  await page.fill("#text", "typed");
  await page.evaluate(() => {
    for (const element of document.querySelectorAll("p, input")) element.setAttribute("data-extension", "1");
    document.querySelector("td")?.setAttribute("style", "color: red");
  });
  release();
  await waitForView(page, "all");
  await expect.poll(() => page.inputValue("#text")).toBe("typed");
  expect(users.problems.splice(0)).toEqual([]);
});

it.each(["names", "plain"])("a form that was refused without script is not reported: %s", async (name) => {
  const page = await users.reusePage();
  await page.goto(`/shop/${name}`);
  await waitForView(page, name);
  await page.fill("[name=name]", "ada");
  await page.evaluate(() => document.forms[0]?.submit());
  await page.waitForURL(/__form=/);
  await waitForView(page, name);
  expect(await page.inputValue("[name=name]")).toBe("ada");
  expect(users.problems.splice(0)).toEqual([]);
});

it("a view that differs is reported once, however often the page has it", async () => {
  const page = await users.reusePage();
  await page.goto("/shop/different");
  await waitForView(page, "different");
  const difference = 'The server has rendered the text "undefined" in p, and the browser the text "object"';
  await expect.poll(() => page.locator("vite-error-overlay").count()).toBe(1);
  const problems = takeProblems();
  expect(problems.filter((problem) => problem.startsWith("thrown: "))).toHaveLength(1);
  expect(problems[0]).toContain(difference);
});

it("a time of another time zone or language is reported, with what each side has rendered", async () => {
  const page = await users.reusePage();
  await page.goto("/shop/local");
  await waitForView(page, "local");
  await expect.poll(() => page.locator("vite-error-overlay").count()).toBe(1);
  const [problem] = takeProblems();
  expect(problem).toMatch(
    /The server has rendered the text ".*9:00:00.*" in time, and the browser the text ".*(?<!9):00:00.*"/,
  );
  expect(problem).toContain("Compute such a value in the page and pass it to the view as a prop");
});

it("an effect that changes the state in each run is reported once, with its line", async () => {
  const page = await users.reusePage();
  await page.goto("/shop/ticking");
  await waitForView(page, "ticking");
  const message = "An effect of Ticking changes the state each time it runs";
  await expect.poll(() => dev.output()).toContain(message);
  const line = 1 + FILES["src/views.tsx"].split("\n").findIndex((text) => text.includes("s.n++"));
  const [, warning = "", ...more] = dev.output().split(message);
  expect(warning).toContain(`src/views.tsx:${line}:`);
  expect(more).toEqual([]);
  users.problems.splice(0);
});
