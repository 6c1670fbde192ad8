import { describe, expect, test } from "vitest";
import { compileErrorAt, compileErrorOf, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { checkRenderEffects, timerWarnings } from "./effects.ts";

const FILES = {
  "src/data.server.ts": `
    import { server } from "tsweb";
    export const load = server((id: string) => id);
    export const plain = () => 1;
  `,
  "src/barrel.ts": 'export { load as fetchIt } from "./data.server.ts";',
};

const HEAD = [
  'import { on_mount, state, view } from "tsweb/browser";',
  'import { load, plain } from "./data.server.ts";',
  'import * as data from "./data.server.ts";',
  'import { fetchIt } from "./barrel.ts";',
  "",
].join("\n");

const checkRendering = (text: string, file = "src/a.tsx") =>
  checkRenderEffects(readTestModule(file, text), inMemoryResolver(FILES));

/** Code in the body of a view. */
const inView = (code: string) => `${HEAD}export const Clock = view(() => { ${code} return <p />; });`;

describe("a call that each rendering of a view makes", () => {
  test.each([
    "«setInterval(tick, 1000);",
    "const timer = «setInterval(tick, 1000); on_unmount(() => clearInterval(timer));",
    "const clock = state({ timer: «setInterval(tick, 1000) });",
    "on_mount(«setInterval(tick, 1000));",
    "«window.setInterval(tick, 1000);",
    "«globalThis.setTimeout(tick, 1000);",
    "«setTimeout(() => { now = 1; }, 1000);",
    "{ «setTimeout(tick); }",
    "try { «setTimeout(tick); } catch {}",
    'if (typeof window !== "undefined") «setInterval(tick, 1000);',
    'if (typeof window === "undefined") {} else { «setInterval(tick, 1000); }',
    'typeof document !== "undefined" && «document.addEventListener("keydown", onKey);',
    'const x = typeof window === "object" ? «addEventListener("resize", f) : 0;',
    '«addEventListener("resize", f);',
    '«window.addEventListener("resize", f);',
    '«document.addEventListener("keydown", f);',
    '«document.body.addEventListener("keydown", f);',
    'const socket = «new WebSocket("/live");',
    'const source = «new window.EventSource("/live");',
    '«fetch("/api").then((response) => response.json());',
    'void «fetch("/api");',
    '«load("1").then((value) => { book.value = value; });',
    'const value = «load("1");',
    '«load.named({ id: "1" });',
    '«data.load("1");',
    '«data["load"]("1");',
    '«fetchIt("1");',
  ])("is rejected: %s", async (code) => {
    const error = await compileErrorAt("src/a.tsx", inView(code), checkRendering);
    expect(error.message).toContain(" at each rendering of Clock");
    expect(error.message).toContain("on_mount");
  });

  test.each([
    ["a component", "export const Clock = () => { «setInterval(tick, 1000); return <p />; };"],
    ["a component that is a function declaration", "function Clock() { «setInterval(tick, 1000); return <p />; }"],
    ["a view that is declared apart", "const Own = () => { «setTimeout(tick); }; export const Clock = view(Own);"],
    ["a view without a name", "export default view(() => { «setTimeout(tick); return <p />; });"],
    ["a view that returns at once", "export const Clock = view(() => <p>{«setTimeout(tick)}</p>);"],
  ])("is rejected in %s", async (_, code) => {
    await compileErrorAt("src/a.tsx", HEAD + code, checkRendering);
  });

  test("gets a message with the fix", async () => {
    const { message } = await compileErrorOf(() => checkRendering(inView("setInterval(tick, 1000);")));
    expect(message).toBe(
      "This timer is started at each rendering of Clock, also on the server, and is never stopped. Start it in on_mount: " +
        "`on_mount(() => { const timer = setInterval(…); return () => clearInterval(timer); })`.",
    );
    const guarded = await compileErrorOf(() =>
      checkRendering(inView('typeof window === "object" && addEventListener("a", f);')),
    );
    expect(guarded.message).toBe(
      "This listener is added at each rendering of Clock, and is never removed. Add it in on_mount: " +
        "`on_mount(() => { addEventListener(…); return () => removeEventListener(…); })`.",
    );
  });
});

describe("a call that not each rendering makes", () => {
  test.each([
    "on_mount(() => { const timer = setInterval(tick, 1000); return () => clearInterval(timer); });",
    "const start = () => setTimeout(tick); const stop = function () { fetch('/a'); }; async function f() { load('1'); }",
    "useEffect(() => { window.addEventListener('resize', f); }, []);",
    "const value = useMemo(() => setTimeout(tick), []);",
    "queueMicrotask(tick);",
    "if (book.isSaved) setTimeout(() => { book.isSaved = false; }, 2000);",
    "book.isSaved && setTimeout(tick); book.isSaved ? setTimeout(tick) : 0;",
    "timer.current ??= setInterval(tick, 1000); timer.current ||= setInterval(tick, 1000);",
    "if (!started) { started = true; fetch('/a'); load('1'); new WebSocket('/'); addEventListener('a', f); }",
    "let timer; if (typeof timer === 'undefined') timer = setInterval(tick, 1000);",
    "if (typeof window !== 'undefined' && !started) setInterval(tick, 1000);",
    "if (typeof window !== 'undefined') { if (!started) setInterval(tick, 1000); }",
    "if (typeof window !== 'undefined') setTimeout(() => focus());",
    "if (isStarted) return <b />; setInterval(tick, 1000);",
    "for (const item of items) setTimeout(tick); switch (a) { case 1: setTimeout(tick); }",
    "items.forEach((item) => setTimeout(tick));",
    "ref.current?.addEventListener('a', f); controller.signal.addEventListener('abort', f); bus.addEventListener('a', f);",
    "const setTimeout = (f) => f; setTimeout(tick); const document = {}; document.addEventListener('a');",
    "clock.setInterval(5); api.fetch('/a'); new Socket('/a'); new window.Image();",
    "const Later = class { timer = setInterval(tick); };",
    "type A = typeof setInterval; const a = setInterval; const b = form(load); const c = load;",
    "plain(); data.plain(); plain().then(show);",
    'const load = "plain"; data[load]("1"); data[load].named({ id: "1" });',
    "return <button onClick={() => load('1')} onBlur={load} />;",
  ])("is accepted: %s", (code) => expect(checkRendering(inView(code))).resolves.toBeUndefined());

  test.each([
    ["a function that is no component", "export const start = () => { setInterval(tick, 1000); };"],
    ["a hook", "export function useClock() { const clock = state({}); setTimeout(tick); return clock; }"],
    ["a class named like a component", "export class Clock { render() { setTimeout(tick); return <p />; } }"],
    ["a function with a capital and no markup", "export const Start = () => { setInterval(tick, 1000); };"],
    ["an async function that a page calls", "export const Layout = async () => { await load('1'); return <p />; };"],
    ["the module", "setInterval(tick, 1000); const data = fetch('/a'); load('1');"],
  ])("is accepted in %s", (_, code) => expect(checkRendering(HEAD + code)).resolves.toBeUndefined());

  test("is accepted in a server module", async () => {
    const code = 'import { page } from "tsweb"; export const Home = () => { setTimeout(log); return <p />; };';
    await expect(checkRendering(code, "src/a.server.tsx")).resolves.toBeUndefined();
  });
});

const IMPORT =
  'import { query, server, session, request, publish, channel, presence, send_file } from "tsweb";\nimport * as tsweb from "tsweb";\n';
const inQuery = (body: string) =>
  `${IMPORT}export const cards = query({ on: ["a"] }, async (board: string) => { ${body} });`;

async function errorOf(code: string): Promise<string> {
  const error = await compileErrorAt("src/a.server.ts", code);
  return error.message;
}

describe("a query that does what fails in every run", () => {
  test.each([
    ["publish", "await «publish(board);"],
    ["publish", "await «tsweb.publish(board);"],
    ["publish", "return rows.map(async () => { await «publish(board); });"],
    ["revalidate", "await «tsweb.revalidate(board);"],
    ["listen", "for await (const _ of «tsweb.listen(board));"],
    ["channel", "return «channel(board);"],
    ["presence", "return «presence(board);"],
    ["send_file", "return «send_file(board);"],
    ["session.login", "«session.login(board);"],
    ["session.logout", "«session.logout();"],
    ["session.revoke", "await «session.revoke(board);"],
  ])("is rejected: %s()", async (name, body) => {
    expect(await errorOf(inQuery(body))).toBe(
      `The query "cards" calls ${name}(), but a query only reads: it runs again after each message, outside every request. Call it ` +
        "in the page or in the server function that makes the change.",
    );
  });

  test("is rejected for a member of request", async () => {
    expect(await errorOf(inQuery("return «request.cookies.theme;"))).toBe(
      'The query "cards" reads request.cookies, but it runs outside every request: its value is for all who see the same. Pass what ' +
        "it needs as an argument of live().",
    );
  });

  test("is rejected if the function is declared on its own", async () => {
    const code = `${IMPORT}async function load() { await «publish("a"); }\nexport const cards = query({ on: ["a"] }, load);`;
    expect(await errorOf(code)).toContain("calls publish()");
  });
});

test.each([
  inQuery("return [session.user(), session.require(), session.sid];"),
  inQuery("const publish = (text: string) => text; return publish(board);"),
  `${IMPORT}export const cards = query({ on: (a) => [a, String(request.path)] }, (a: string) => a);`,
  `${IMPORT}export const add = server(async (a: string) => { await publish(a); session.logout(); return request.path; });`,
])("what a query may do, and what is outside of it, is accepted", (code) => {
  expect(() => readTestModule("src/a.server.ts", code)).not.toThrow();
});

const INTERVAL_HEAD =
  'import { on_mount, view } from "tsweb/browser"; import { useEffect } from "preact/hooks"; import { every } from "./a.ts";\n';

const warningsOf = (statement: string) =>
  timerWarnings(
    readTestModule("src/a.tsx", `${INTERVAL_HEAD}export const A = view(() => {\n${statement}\nreturn <p />;\n});`),
    {
      root: "/app",
    },
  );

describe("the number of an interval that is returned as a cleanup", () => {
  test.each([
    "on_mount(() => setInterval(tick, 1000));",
    "on_mount(() => window.setInterval(tick, 1000));",
    "on_mount(function () { return setInterval(tick, 1000); });",
    "on_mount(() => { tick(); return (setInterval(tick, 1000) as any); });",
  ])("is a warning with the fix: %s", (statement) => {
    expect(warningsOf(statement)).toEqual([
      "src/a.tsx:3 returns the number of an interval to on_mount, which nothing stops. Return a function that stops it: " +
        "`on_mount(() => { const timer = setInterval(…); return () => clearInterval(timer); })`.",
    ]);
  });

  test("is a warning for useEffect, and names the line of each call", () => {
    expect(warningsOf("useEffect(\n() => setInterval(tick, 1), []);\non_mount(() => setInterval(tick, 2));")).toEqual([
      expect.stringMatching(/^src\/a\.tsx:4 returns the number of an interval to useEffect.*\}, \[…\]\)`\.$/),
      expect.stringMatching(/^src\/a\.tsx:5 .* to on_mount/),
    ]);
  });

  test.each([
    "on_mount(() => { const timer = setInterval(tick, 1000); return () => clearInterval(timer); });",
    "on_mount(() => { setInterval(tick, 1000); });",
    "on_mount(() => setTimeout(tick, 1000));",
    "on_mount(() => every.setInterval(tick, 1000));",
    "on_mount(() => every(() => setInterval(tick, 1000)));",
    "const setInterval = every; on_mount(() => setInterval(tick, 1000));",
    "on_mount(async () => setInterval(tick, 1000));",
    "const on_mount = every; on_mount(() => setInterval(tick, 1000));",
    "every(() => setInterval(tick, 1000));",
  ])("is absent in: %s", (statement) => {
    expect(warningsOf(statement)).toEqual([]);
  });
});
