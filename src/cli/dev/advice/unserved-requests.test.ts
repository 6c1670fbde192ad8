import { EventEmitter } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { TestProject } from "#test/test-project";
import { observeRedirects, redirect } from "../../../http/index.ts";
import { ErrorLog } from "../../errors/index.ts";
import { UnservedRequests } from "./unserved-requests.ts";

const FILES = {
  "src/home.server.tsx":
    'import { page } from "tsweb";\nexport const home = page("/", () => (\n  <main>\n' +
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a module
    '    <a href="/abuot">About</a><a href="nested/pgae">Page</a><a href={`/users/${user.id}`}>User</a>\n' +
    '    <form action="/save" method="post" />\n    <img src="./logo.svg" alt="" />\n  </main>\n));\n',
  "src/logo.svg": "<svg />",
  "src/style.css":
    "p { color: red }\n/* url(/commented.png) */\nbody { background: url(/missing.png) }\n" +
    "h1 { background: url(\"/img/my%20logo.png?v=1\") }\nh2 { background: url('/public/photo.png') }\nh3 { mask: url(/logo.svg#a) }\n",
  "public/photo.png": "x",
  "src/list.tsx":
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a module
    'export async function load(id: string) {\n  await fetch("/api/gests?all=1");\n  await fetch(`/api/guests/${id}/visits`);\n' +
    '  await axios.delete<Guest[]>("/api/rooms/" + id);\n  // await fetch("/api/commented");\n' +
    '  await fetch("http://localhost:3000/api/absolute");\n  await fetch("https://api.example/api/other");\n' +
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a module
    '  new EventSource("/events");\n  await fetch(`${API}/known`);\n}\n\nconst ADDRESS = "/api/constant";\n',
  "src/unlisted.server.ts": 'export const export_all = route("GET /api/export", () => new Response(""));\n',
};

let project: TestProject;
let edits: EventEmitter;
let lines: string[];
let requests: UnservedRequests;

beforeAll(() => {
  project = TestProject.fromFiles(FILES);
});
afterAll(() => project.remove());
beforeEach(() => {
  edits = new EventEmitter();
  lines = [];
  const write = (text: string) => lines.push(text);
  requests = new UnservedRequests(edits, new ErrorLog(project.dir, write), write);
});

interface Sent {
  readonly method?: string;
  readonly from?: string;
  readonly dest?: string | null;
  readonly base?: string;
  readonly allow?: string;
}

/** Reports a request of a script, and returns what was printed for it. */
async function report(path: string, { method = "GET", from = "/", dest = "empty", base = "", allow }: Sent = {}) {
  const origin = "http://localhost:3000";
  const headers: Record<string, string | null> = { referer: origin + from, "sec-fetch-dest": dest };
  const served = {
    root: project.dir,
    publicDir: project.file("public"),
    base,
    paths: ["/", "/about", "/api/guests", "/nested/page"],
    adviseUnloadedPage: async (unloaded: string) =>
      unloaded === "/api/export" ? "src/unlisted.server.ts:1 declares a route for it." : undefined,
  };
  const before = lines.length;
  await requests.report({ method, pathname: path, origin, header: (name) => headers[name] ?? null }, served, allow);
  return lines.slice(before).join("\n");
}

describe("the terminal of the development server, after a request for an address without a page or route,", () => {
  it("names the line of the fetch and the route that it probably means", async () => {
    expect(await report("/api/gests")).toBe(
      'src/list.tsx:2 requests "/api/gests?all=1", where nothing is served. Did you mean "/api/guests"?',
    );
  });

  it.each([
    [
      "GET",
      "/api/guests/7/visits",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a module
      "src/list.tsx:3 requests `/api/guests/${id}/visits`, where",
      '"GET /api/guests/:id/visits"',
    ],
    ["DELETE", "/api/rooms/7", 'src/list.tsx:4 requests "/api/rooms/" with DELETE, where', '"DELETE /api/rooms/:id"'],
    [
      "GET",
      "/api/absolute",
      'src/list.tsx:6 requests "http://localhost:3000/api/absolute", where',
      '"GET /api/absolute"',
    ],
    ["GET", "/events", 'src/list.tsx:8 requests "/events", where', 'export const events = route("GET /events", async'],
    ["PUT", "/api/constant", 'src/list.tsx:12 requests "/api/constant" with PUT, where', '"PUT /api/constant"'],
  ])("names the line with the URL and a route to declare: %s %s", async (method, path, says, fix) => {
    const text = await report(path, { method });
    expect(text).toContain(says);
    expect(text).toContain(fix);
    expect(await report(path, { method, dest: null }), "a client without Fetch Metadata, once until an edit").toBe("");
  });

  it.each([
    [
      "/missing.png",
      "src/style.css:3 requests /missing.png, where nothing is served. Correct the path, put the file at public/missing.png, or " +
        'write the path of a file beside the style sheet with a dot: url("./missing.png").',
    ],
    [
      "/img/my%20logo.png",
      "src/style.css:4 requests /img/my%20logo.png?v=1, where nothing is served. Correct the path",
    ],
    ["/public/photo.png", 'public/photo.png is served at /photo.png: write url("/photo.png").'],
  ])("names the line of the style sheet with the URL: %s", async (path, says) => {
    expect(await report(path, { dest: "image" })).toContain(says);
    expect(await report(path, { dest: "image" }), "once until an edit").toBe("");
  });

  it.each([
    ["/commented.png", "image"],
    ["/missing.png", "document"],
    ["/other.png", "image"],
  ])("names no style sheet for another request: %s, %s", async (path, dest) => {
    expect(await report(path, { dest })).toBe("");
  });

  it("names the module that declares the route and is not listed", async () => {
    project.write("src/exporter.tsx", 'void fetch("/api/export");\n');
    onTestFinished(() => project.write("src/exporter.tsx", ""));
    expect(await report("/api/export")).toBe(
      'src/exporter.tsx:1 requests "/api/export", where nothing is served. src/unlisted.server.ts:1 declares a route for it.',
    );
  });

  it("names the methods that the address has", async () => {
    expect(await report("/events", { method: "POST", allow: "GET, HEAD" })).toBe(
      'src/list.tsx:8 requests "/events" with POST, and this address allows GET, HEAD. Declare a route, `export const ' +
        'events = route("POST /events", async (request) => …)`, or call a server function: browsers import it from a ' +
        "module whose name ends with .server.ts.",
    );
  });

  it("names the line of a link and of a form", async () => {
    expect(await report("/abuot", { dest: "document" })).toBe(
      'src/home.server.tsx:4 links to "/abuot", where nothing is served. Did you mean "/about"?',
    );
    expect(await report("/nested/pgae", { dest: "document" })).toContain('Did you mean "/nested/page"?');
    expect(await report("/users/7", { dest: "document" })).toContain(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a module
      'links to `/users/${user.id}`, where nothing is served. Declare a page, `export const users_id = page("/users/:id", () => …)`.',
    );
    expect(await report("/save", { dest: "document", method: "POST" })).toContain(
      'src/home.server.tsx:5 requests "/save" with POST, where nothing is served. Write a server function as the action',
    );
  });

  it("names the file that a module has to import", async () => {
    expect(await report("/logo.svg", { dest: "image" })).toContain("src/home.server.tsx:6 requests /logo.svg, where");
    expect(await report("/logo.svg", { dest: "image" }), "once until the next edit").toBe("");
    edits.emit("all");
    expect(await report("/logo.svg", { dest: "image" })).toContain("src/home.server.tsx:6");
  });

  it("names the base of the application that a URL lacks", async () => {
    expect(await report("/api/guests/7/visits", { base: "/shop" })).toContain(
      'The application is served below /shop, so its paths start with "/shop/".',
    );
    expect(await report("/api/gests", { base: "/shop" })).toContain('Did you mean "/shop/api/guests"?');
  });

  it.each([
    ["/api/commented", {}],
    ["/api/other", {}],
    ["/api/unknown", {}],
    ["/api/known", {}],
    ["/abuot", {}],
    ["/events", { dest: "document" }],
    ["/events", { dest: "script" }],
    ["/nested/pgae", { dest: "document", from: "/other/" }],
    ["/api/guests/7/8/visits", {}],
    ["/events", { method: "PROPFIND" }],
    ["/.well-known/appspecific/com.chrome.devtools.json", {}],
  ])("shows nothing if no line certainly requests it: %s %j", async (path, sent) => {
    expect(await report(path, sent)).toBe("");
  });

  it("shows nothing of the request but a well-known method", async () => {
    const text = await report("/api/guests/secret-of-a-user/visits");
    expect(text).not.toBe("");
    expect(text).not.toContain("secret");
  });
});

describe("a redirect to an address where nothing is served", () => {
  beforeEach(() => {
    observeRedirects((created) => requests.redirectCreated(created));
    return () => observeRedirects(undefined);
  });

  /** Redirects as a function of the project does: its file is in the stack. */
  function redirectIn(file: string, path: string): void {
    const code = `//# sourceURL=${project.file(file)}`;
    new Function("redirect", "path", `\n\n  redirect(path);\n${code}`)(redirect, path);
  }

  it("is printed with the code that redirects, once until the next edit", async () => {
    redirectIn("src/home.server.tsx", "/abuot?from=1");
    expect(await report("/other", { dest: "document" })).toBe("");
    const text = await report("/abuot", { dest: "document" });
    expect(text).toContain(
      'Error: redirect("/abuot?from=1") leads to an address where nothing is served. Did you mean "/about"?',
    );
    expect(text).toMatch(/^src\/home\.server\.tsx:\d+:\d+$/m);
    expect(await report("/abuot", { dest: "document" })).toBe("");
  });

  it("is printed with the base", async () => {
    redirectIn("src/home.server.tsx", "/welcome");
    expect(await report("/shop/welcome", { base: "/shop", dest: "document" })).toContain(
      'redirect("/welcome") leads to an address where nothing is served. Redirect to the path of a page, or declare',
    );
  });

  it("is printed with the methods that the address has", async () => {
    redirectIn("src/home.server.tsx", "/hook");
    expect(await report("/hook", { allow: "POST", dest: "document" })).toContain("an address that allows only POST.");
  });

  it("is printed if it leads to its own URL for the third time, with its code, once until the next edit", () => {
    const answer = () => {
      const before = lines.length;
      redirectIn("src/home.server.tsx", "/login?next=1");
      requests.redirectedToItself(redirect("/login?next=1"));
      return lines.slice(before).join("\n");
    };
    expect([answer(), answer()]).toEqual(["", ""]);
    const text = answer();
    expect(text).toContain(
      'redirect("/login?next=1") answers a request of /login itself, so the browser is redirected until it gives up. Redirect ' +
        'only from other paths: in `before`, test `path !== "/login"` first.',
    );
    expect(answer()).toBe("");
    edits.emit("all");
    expect([answer(), answer()]).toEqual(["", ""]);
  });

  it("is not printed if it leads to another site, for another method, and after an edit", async () => {
    new Function("redirect", `redirect("https://site.example/abuot", { external: true })`)(redirect);
    expect(await report("/abuot", { dest: "document" })).not.toContain("redirect(");
    redirectIn("src/home.server.tsx", "/welcome");
    expect(await report("/welcome", { method: "POST", dest: "document" })).toBe("");
    edits.emit("all");
    expect(await report("/welcome", { dest: "document" })).toBe("");
  });
});
