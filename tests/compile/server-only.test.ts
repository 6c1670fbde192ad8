import { symlinkSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { InlineConfig, ViteDevServer } from "vite";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseMarkedCode } from "#test/in-memory-modules";
import { buildFailure, Project } from "./project.ts";
import { BUILT, FILES, LINKS, MARKER, type Reference, SCRIPTS, SHEETS, sheet, view } from "./server-only-references.ts";

/** Writes the files and links into a project. */
function writeFiles(project: Project, folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries({ ...FILES, ...files })) project.write(`${folder}${name}`, text);
  for (const [link, target] of Object.entries(LINKS)) {
    symlinkSync(project.file(`${folder}${target}`), project.file(`${folder}${link}`));
  }
}

function projectOf({ files }: Pick<Reference, "files">): Project {
  const project = new Project({});
  writeFiles(project, "", files);
  project.install("sass", "less", "preact");
  return project;
}

/** A development server, and a project with every reference in a folder of its own. */
class DevelopmentServer {
  private readonly project = projectOf({ files: {} });
  private readonly servers = new Map<InlineConfig | undefined, Promise<string>>();
  private readonly stops: (() => void)[] = [];
  private count = 0;

  /** Returns all text that the server sends for a view and for everything it refers to. */
  async textOf({ files, config }: Reference): Promise<string> {
    const folder = `case${++this.count}/`;
    writeFiles(this.project, folder, files);
    const address = await this.address(config);
    const texts = new Map<string, string>();
    const pending = [`/${folder}src/view.tsx`];
    for (let url = pending.pop(); url !== undefined; url = pending.pop()) {
      if (texts.has(url)) continue;
      const text = await (await fetch(address + url)).text();
      texts.set(url, text);
      for (const [, found = ""] of text.matchAll(/["'(](\/(?:src|case\d+|@id|@fs)\/[^"')\s]+)/g)) {
        if (found.includes(folder) || found.startsWith("/src/")) pending.push(found); // not the modules of tsweb
      }
    }
    return decoded([...texts.values()].join("\n"));
  }

  private address(config: InlineConfig | undefined): Promise<string> {
    const started = this.servers.get(config) ?? this.start(config);
    this.servers.set(config, started);
    return started;
  }

  private async start(config: InlineConfig | undefined): Promise<string> {
    const { address, stop } = await listen(await this.project.serve(config));
    this.stops.push(stop);
    return address;
  }

  stop(): void {
    for (const stop of this.stops) stop();
  }
}

async function listen({ middlewares }: ViteDevServer): Promise<{ address: string; stop: () => void }> {
  const http = createHttpServer(middlewares);
  await new Promise<void>((listening) => http.listen(0, "127.0.0.1", listening));
  const { port } = http.address() as AddressInfo; // not a string: it listens on a port
  const stop = () => {
    http.close();
    http.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${port}`, stop };
}

/** Appends the decoded data URLs of a text. */
function decoded(text: string): string {
  const inlined = [...text.matchAll(/base64,([A-Za-z0-9+/=]+)/g)].map(([, data = ""]) => Buffer.from(data, "base64"));
  return [text, ...inlined].join("\n");
}

describe("a reference to a server-only file", () => {
  const all = [...SHEETS, ...SCRIPTS];

  test.each(all.filter(({ title }) => BUILT.test(title)))(
    "fails the build for the browser: $title [RESPONSE-6]",
    async (reference) => {
      const failure = await buildFailure(projectOf(reference).buildClient("src/view.tsx", reference.config));
      expect(failure.message).toMatch(/is server-only|is a server module|is not a server function/);
    },
  );

  test("sends nothing of the file in development, in a style sheet or a script [RESPONSE-9]", async () => {
    const server = new DevelopmentServer();
    onTestFinished(() => server.stop());
    const sent: string[] = [];
    for (const reference of all) {
      const text = await server.textOf(reference);
      expect(text, reference.title).not.toBe("");
      if (text.includes(MARKER)) sent.push(reference.title);
    }
    expect(sent).toEqual([]);
  });
});

describe("the error about a reference to a server-only file", () => {
  test("has its location in a style sheet", async () => {
    const css = 'p {\n  color: red;\n  background: url("«./db.server.ts?inline");\n}';
    const project = projectOf(sheet("url()", parseMarkedCode(css).code));
    const failure = await buildFailure(project.buildClient("src/view.tsx"));
    expect(failure.message).toBe(
      'src/db.server.ts is server-only, because its name or the name of a folder in its path ends in ".server", so it cannot be referenced in a style sheet as "./db.server.ts?inline". Rename it if browsers may receive it.',
    );
    expect(failure.loc).toMatchObject({ file: project.file("src/view.css"), ...parseMarkedCode(css).location });
    expect(failure.frame).toContain("^^^");
  });

  test("has its location in a script", async () => {
    const text = view('import data from «"./data.server.json";\nconsole.log(data);');
    const project = projectOf({ files: { "src/view.tsx": parseMarkedCode(text).code } });
    const failure = await buildFailure(project.buildClient("src/view.tsx"));
    expect(failure.message).toContain("src/data.server.json is server-only");
    expect(failure.message).toContain('it cannot be imported as "./data.server.json"');
    expect(failure.loc).toMatchObject({ file: project.file("src/view.tsx"), ...parseMarkedCode(text).location });
  });
});

describe("a link in the folder of public files", () => {
  test.each([
    ["to a file of the project", "public/data.txt", "src/plain.txt"],
    ["to a folder of the project", "public/data", "src"],
    ["in a folder", "public/a/b/data.txt", "src/plain.txt"],
    ["to a folder whose path begins like that of the public files", "public/data.txt", "public-files/plain.txt"],
  ])("that leads out of it fails the build: %s [REQUEST-54]", async (_title, link, target) => {
    const project = new Project({ ...FILES, "public/a/b/x.txt": "", "public-files/plain.txt": "" });
    project.write("src/view.tsx", view(""));
    symlinkSync(project.file(target), project.file(link));
    for (const build of [() => project.buildClient("src/view.tsx"), () => project.buildServer("src/app.ts")]) {
      const { message } = await buildFailure(build());
      expect(message).toContain(`${link} is a link to ${project.file(target)}, which is not in public.`);
    }
  });

  test("that leads to another public file does not fail it, also if the folder is a link", async () => {
    const project = new Project({ ...FILES, "files/x.txt": "", "src/view.tsx": view("") });
    symlinkSync(project.file("files"), project.file("public"));
    symlinkSync(project.file("files/x.txt"), project.file("files/y.txt"));
    expect(await project.buildClient("src/view.tsx")).not.toEqual([]);
  });
});

describe("a style sheet may contain", () => {
  test.each([
    ["a selector that looks like a server-only file", ".db.server.active { color: red }", "view.css"],
    ["a comment about a server-only file", '/* as in "./db.server.ts" */ p { color: red }', "view.css"],
    ["a line comment about a server-only file", "// as in ./db.server.ts\np { color: red }", "view.scss"],
    ["a text that is no path", 'p::after { content: "mail.server.example" }', "view.css"],
    ["an inlined file", 'p { background: url("./plain.txt?inline") }', "view.css"],
    ["a URL of another site", 'p { background: url("https://a.server.example/b.server.png") }', "view.css"],
  ])("%s", async (title, css, file) => {
    const output = await projectOf(sheet(title, css, file)).buildClient("src/view.tsx");
    expect(output.map(({ name }) => name).join(" ")).toContain(".css");
  });
});

describe("a server-only file in the folder of public files", () => {
  test.each([
    ["by its name", { "public/data.server.json": MARKER }, {}],
    ["by its folder", { "public/keys.server/a.txt": MARKER }, {}],
    ["as variables", { "public/.env.local": MARKER }, {}],
    ["as a link", { "public/a.txt": "" }, { "public/data.txt": "src/text.server.txt" }],
    ["as a linked folder", { "public/a.txt": "" }, { "public/keys": "src/keys.server" }],
  ])("fails the build, and is not served in development: %s", async (_title, files, links) => {
    const project = new Project({ ...FILES, ...files, "src/view.tsx": view("") });
    for (const [link, target] of Object.entries(links)) symlinkSync(project.file(target), project.file(link));
    for (const build of [() => project.buildClient("src/view.tsx"), () => project.buildServer("src/app.ts")]) {
      expect((await buildFailure(build())).message).toMatch(
        /(is server-only|contains environment variables).*cannot be served from public/,
      );
    }
    const { address, stop } = await listen(await project.serve());
    onTestFinished(stop);
    for (const path of ["/data.server.json", "/keys.server/a.txt", "/data.txt", "/keys/index.ts", "/%64ata.txt"]) {
      expect(await (await fetch(address + path)).text()).not.toContain(MARKER);
    }
  });
});

describe("a build for the server fails on", () => {
  test.each([
    [
      "an asset that is server-only",
      'import url from "./data.server.json?url";\nexport const u = url;',
      /cannot be an asset/,
    ],
    [
      "an image that is server-only",
      'import url from "./icon.server.svg";\nexport const u = url;',
      /cannot be an asset/,
    ],
    ["a style sheet that is server-only", 'import "./style.server.css";', /cannot be a style sheet/],
    ["a style sheet with a link to a server-only file", 'import "./linked.css";', /cannot be a style sheet/],
  ])("%s, because browsers receive it", async (_title, text, problem) => {
    const project = projectOf({ files: { "src/pages.server.tsx": text } });
    expect((await buildFailure(project.buildServer("src/pages.server.tsx"))).message).toMatch(problem);
  });

  test("nothing that stays on the server: a text and JSON", async () => {
    const text =
      'import raw from "./text.server.txt?raw";\nimport data from "./data.server.json";\nexport const u = [raw, data];';
    const project = projectOf({ files: { "src/pages.server.ts": text } });
    const output = await project.buildServer("src/pages.server.ts");
    expect(output.some((file) => file.text.includes(MARKER))).toBe(true);
  });
});
