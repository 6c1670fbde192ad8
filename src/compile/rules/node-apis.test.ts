import { describe, expect, test } from "vitest";
import { compileErrorAt, compileErrorOf, readTestModule } from "#test/in-memory-modules";
import { definedGlobals } from "../vite-config.ts";
import { checkNodeImports, checkServerGlobals } from "./node-apis.ts";

const HEAD = 'import { view } from "tsweb/browser";\nexport const View = view(() => null);\n';
/** A Vite config without settings for globals. */
const CONFIG = { defined: undefined };

const checkGlobals = (text: string) => checkServerGlobals(readTestModule("src/a.tsx", HEAD + text), CONFIG);

describe("a global of Node in a module that browsers load", () => {
  test.each([
    "export const A = view(() => <p>{«process.env.HOME}</p>);",
    'export const A = view(() => <p>{«process.env["HOME"]}</p>);',
    "export const A = view(() => <p>{«process.env[name]}</p>);",
    "export const A = view(() => <p>{«process?.env?.HOME}</p>);",
    "export const A = view(() => <p>{(«process.env.HOME as string) ?? 1}</p>);",
    "export const A = view(() => <p>{«process.env.HOME!}</p>);",
    "const { HOME } = «process.env;",
    "const { env } = «process;",
    "const home = «process.env.HOME satisfies unknown;",
    "const f = () => «process.cwd();",
    "const f = () => «Buffer.from('a');",
    "const f = new Set([«Buffer]);",
    "const file = «__dirname + '/a';",
    "const file = «__filename;",
    "«global.cache = 1;",
    'const text = «require("./a.ts");',
    "enum E { A = «process.pid }",
    "class A { home = «process.env.HOME; }",
    "const a = { «process };",
    "const a = { [«process.pid]: 1 };",
    "if (user) { f(«process.env.HOME); }",
    'const name = 1; if (typeof name === "string") { f(«process.env.HOME); }',
    "const a = user && «process.env.HOME;",
    'if (process.env.NODE_ENV !== "production") f(«process.env.HOME);',
    "const process_ = 1; f(«process.env.HOME);",
    "function f() { const process = 1; } f(«process.env.HOME);",
    "try { f(«process.env.HOME); } finally { g(); }",
    'if (typeof window === "undefined") g(); f(«process.env.HOME);',
    'if («process.env.DEBUG && typeof window === "undefined") f();',
  ])("is rejected: %s", async (code) => {
    const text = HEAD + code;
    await compileErrorAt("src/a.tsx", text, () => checkGlobals(code));
  });

  test.each([
    "f(process.env.NODE_ENV);",
    "f(process?.env?.NODE_ENV);",
    'f(process.env["NODE_ENV"]);',
    "f(import.meta.env.PUBLIC_URL);",
    "f(props.process.env.HOME, { process: 1 }, props.Buffer);",
    "f(globalThis.process?.env.HOME);",
    "type P = typeof process; interface B { b: Buffer; require: 1 } let a: Buffer;",
    "const f = (b: Buffer): NodeJS.Process => b as unknown as typeof process;",
    "declare const process: { env: Record<string, string> }; f(process.env.HOME);",
    "const process = { env: {} }; f(process.env.HOME);",
    "const f = (process) => process.env.HOME;",
    "const f = ({ Buffer }) => Buffer.from(1);",
    'import { Buffer } from "buffer/"; f(Buffer.from("a"));',
    'import process from "./process.ts"; f(process.env.HOME);',
    "class A { process() { return this.process(); } require = 1 }",
    "process: for (;;) { break process; }",
    "f(typeof process, typeof Buffer);",
    'f(typeof process !== "undefined" && process.env.HOME);',
    'f(typeof window === "undefined" ? process.env.HOME : "");',
    'if (typeof document !== "undefined") {} else { f(process.env.HOME); }',
    'if (typeof process === "object" && process.versions?.node) f();',
    'function f() { if (typeof window !== "undefined") return 1; return process.cwd(); }',
    'function f() { if (typeof process === "undefined") { g(); throw 1; } return () => process.cwd(); }',
    'const isServer = typeof window === "undefined"; f(isServer ? process.env.HOME : 1);',
    'const onServer = typeof window === "undefined"; const also = onServer && x; if (also) f(process.env.HOME);',
    'import { IS_BROWSER } from "./env.ts"; if (!IS_BROWSER) f(process.env.HOME);',
    "if (import.meta.env.SSR) f(process.env.HOME);",
    "if (import.meta.vitest) f(process.cwd());",
    'if (!("window" in globalThis)) f(process.env.HOME);',
    "if (globalThis.process) f(process.env.HOME);",
    "try { f(process.env.HOME); } catch { g(); }",
    "f((process.env as any).NODE_ENV, process.env!.NODE_ENV, (process).env.NODE_ENV, process.env[`NODE_ENV`]);",
    'const f = () => { switch (typeof window) { case "undefined": return process.pid; default: return 0; } };',
    'const f = () => { if (typeof window === "undefined") { g(); } else { return 1; } return process.pid; };',
    'const f = () => { if (!("document" in globalThis)) {} else return; process.pid; };',
    'while (typeof process !== "undefined") { process.pid; break; }',
    'for (; typeof process !== "undefined"; ) { process.pid; break; }',
    'assert(typeof process !== "undefined"); process.pid;',
    "globalThis.process ??= { env: {} } as never; f(process.env.X);",
    "(window as any).global ??= window; (global as any).foo = 1;",
    "Object.assign(globalThis, polyfills); f(Buffer.from('a'));",
    'f(globalThis["process"].env, globalThis.process.env.HOME, globalThis.location);',
  ])("is accepted where it is another name, a type, or guarded: %s", (code) => {
    expect(() => checkGlobals(code)).not.toThrow();
  });

  test.each([
    'export const A = view(() => <p>{typeof process !== "undefined" && «process.env.A}</p>);',
    'export const A = view(() => <p>{typeof process === "object" ? "is " + «process.env.A : ""}</p>);',
    "export const A = view(() => <p title={globalThis.process ? «process.env.A : undefined} />);",
    'export const A = view(() => <p>{(typeof window === "undefined" && «process.env.A) || "none"}</p>);',
    'const isServer = typeof window === "undefined"; export const A = view(() => <p>{isServer && «process.env.A}</p>);',
    'export const A = view(() => { if (typeof process !== "undefined") return <p>{«process.env.A}</p>; return null; });',
    "export const A = view(() => { try { return <p>{«process.env.A}</p>; } catch { return null; } });",
    "export const A = view(() => <p>{«globalThis.process.env.A}</p>);",
    'export const A = view(() => <p>{«(globalThis as any)["process"].env.A}</p>);',
    "declare const process: any; export const A = view(() => <p>{«process.env.A}</p>);",
  ])("is rejected where the server writes a variable into the HTML, whatever tests it: %s", async (code) => {
    const text = HEAD + code;
    const error = await compileErrorAt("src/a.tsx", text, () => checkGlobals(code));
    expect(error.message).toContain("the server would write its value into the HTML");
  });

  test.each([
    'export const A = view(() => <p>{typeof window !== "undefined" && process.env.A}</p>);',
    'export const A = view(() => <p>{typeof document === "undefined" ? "" : process.env.A}</p>);',
    'const isServer = typeof window === "undefined"; export const A = view(() => <p>{!isServer && process.env.A}</p>);',
    'export const A = view(() => { if (typeof window === "undefined") return null; return <p>{process.env.A}</p>; });',
    "export const A = view(() => <p>{import.meta.env.SSR || process.env.A}</p>);",
    'import { isServer } from "./env.ts"; export const A = view(() => <p>{isServer && process.env.A}</p>);',
    'export const A = view(() => <p>{typeof process !== "undefined" && process.env.A ? <b /> : null}</p>);',
    'export const A = view(() => <p>{typeof process !== "undefined" && process.env.NODE_ENV}</p>);',
    'export const A = view(() => <p onClick={() => typeof process !== "undefined" && f(process.env.A)} />);',
    'export const A = view(() => <p>{typeof process !== "undefined" && f(process.env.A)}</p>);',
    "globalThis.process ??= { env: {} } as never; export const A = view(() => <p>{process.env.A}</p>);",
  ])("is accepted in markup where the server may not render it: %s", (code) => {
    expect(() => checkGlobals(code)).not.toThrow();
  });

  test.each([
    "export const home = «process.env.HOME;",
    "export class A { static home = «process.env.HOME; }",
    "export const Home = () => <p>{«process.env.HOME}</p>;",
    "export const List = () => <ul>{items.map((item) => item + «process.pid)}</ul>;",
  ])("is rejected in a module without views where browsers evaluate it: %s", async (code) => {
    await compileErrorAt("src/a.tsx", code, (text) => checkServerGlobals(readTestModule("src/a.tsx", text), CONFIG));
  });

  test.each([
    "export const url = (path: string) => new URL(path, process.env.ORIGIN);",
    "export function encode(bytes: Uint8Array) { return Buffer.from(bytes).toString('base64'); }",
    "export class A { home = process.env.HOME; }",
  ])("is accepted in a function of a shared module, which only server code may call: %s", (code) => {
    expect(() => checkServerGlobals(readTestModule("src/a.tsx", code), CONFIG)).not.toThrow();
  });

  test("is accepted in a CommonJS module", () => {
    const commonJs = readTestModule("src/a.js", 'const a = require("./a.js");\nmodule.exports = a;');
    expect(() => checkServerGlobals(commonJs, CONFIG)).not.toThrow();
    const named = readTestModule("src/a.cjs", 'exports.a = require("./a.js");');
    expect(() => checkServerGlobals(named, CONFIG)).not.toThrow();
  });

  test("is reported with what to do instead", async () => {
    const messageOf = async (code: string) => (await compileErrorOf(() => checkGlobals(code))).message;
    expect(await messageOf("f(process.env.HOME);")).toBe(
      "process.env.HOME cannot be used in a module that browsers load: it is undefined in browsers, and the server would " +
        "write its value into the HTML. Read it in the page and pass it as a prop.",
    );
    expect(await messageOf("f(process.cwd());")).toBe(
      "`process.cwd` exists in Node only, and browsers load this module too. Use it in the page or in a server function, " +
        "and pass the result to the browser.",
    );
    expect(await messageOf("f(global.cache);")).toMatch(/Write `globalThis`\.$/);
    expect(await messageOf('f(require("./a.ts"));')).toMatch(/Write an import at the top of the module/);
    expect(await messageOf('f(require("fs"));')).toMatch(/^"fs" is a Node module/);
  });
});

describe("a global of Node that the Vite config defines", () => {
  const accepts = (code: string, config: Partial<Parameters<typeof definedGlobals>[0]>) => {
    const defined = definedGlobals({ environments: {}, plugins: [], ...config } as Parameters<
      typeof definedGlobals
    >[0]);
    try {
      checkServerGlobals(readTestModule("src/a.tsx", HEAD + code), { defined });
      return true;
    } catch {
      return false;
    }
  };

  test("is accepted where `define` replaces it, and not where it replaces another name", () => {
    const define = { "process.env.API": '"/api"', global: "globalThis" };
    expect(accepts("f(process.env.API);", { define })).toBe(true);
    expect(accepts("f(process.env?.API.length);", { define })).toBe(true);
    expect(accepts("f(global.x);", { define })).toBe(true);
    expect(accepts("f(process.env.API_KEY);", { define })).toBe(false);
    expect(accepts("f(process.env.HOME);", { define: { "process.env": "{}" } })).toBe(true);
  });

  test("is accepted with a plugin for polyfills, except for variables, which would become part of the HTML", () => {
    const plugins = [{ name: "vite-plugin-node-polyfills" }];
    expect(accepts("f(Buffer.from('a'), process.nextTick);", { plugins })).toBe(true);
    expect(accepts("f(process.env.HOME);", { plugins })).toBe(false);
  });
});

type Client = NonNullable<Parameters<typeof checkNodeImports>[1]["client"]>;

/** Browser code in which a package has the name of the Node module "events". */
const client = {
  pluginContainer: {
    resolveId: async (specifier: string) =>
      specifier === "events"
        ? { id: "/app/node_modules/events/events.js" }
        : { id: `__vite-browser-external:${specifier}` },
  },
} as Client; // only this method is used

const checkImports = (code: string) => checkNodeImports(readTestModule("src/a.tsx", code), { client });

describe("checkNodeImports", () => {
  test.each([
    ['import { readFileSync } from «"node:fs";', '"node:fs"'],
    ['import fs from «"fs";', '"fs"'],
    ['import { readFile } from «"fs/promises";', '"fs/promises"'],
    ['export { randomUUID } from «"node:crypto";', '"node:crypto"'],
    ['const load = () => import(«"node:path");', '"node:path"'],
    ['import { EventEmitter } from «"node:events";', '"node:events"'],
  ])("rejects %s", async (code, name) => {
    const error = await compileErrorAt("src/a.tsx", code, checkImports);
    expect(error.message).toBe(
      `${name} is a Node module, so browser code cannot import it. Use it in a server function and call that function.`,
    );
  });

  test.each([
    'import type { Stats } from "node:fs";',
    'import { type Stats } from "fs";',
    'import { EventEmitter } from "events";',
    'import { view } from "tsweb/browser";',
    'import fs from "./fs.ts";',
    'const image = new URL("fs", import.meta.url);',
  ])("accepts %s", async (code) => {
    await expect(checkImports(code)).resolves.toBeUndefined();
  });
});
