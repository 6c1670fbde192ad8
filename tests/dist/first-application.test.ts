/**
 * What a newcomer does: install the package into an empty folder, type in the README's first
 * application, check it, build it, serve it, and work on it.
 */
import { randomBytes } from "node:crypto";
import { renameSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Running, startNode } from "#test/run-tsweb";
import { launch } from "../browser/chromium.ts";
import { emptyFolder, modulesAbove, type Packed, type Project, pack, project } from "./fresh-project.ts";
import { refusal, signAs, type Visit, visit } from "./guest-visit.ts";
import { filesShown, readme } from "./readme.ts";

const folder = emptyFolder();
const files = filesShown(readme);
let packed: Packed;
let guestBook: Project;
let browser: Browser;

beforeAll(async () => {
  packed = await pack(folder.dir);
  guestBook = project(join(folder.dir, "guest-book"), files);
  const quietly = ["--no-audit", "--no-fund", "--prefer-offline"];
  await guestBook.run("npm", "install", ...quietly, packed.file);
  await guestBook.run("npm", "install", ...quietly, "--save-dev", "typescript", "@types/node");
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  folder.remove();
});

/** Gives a line of the README, so that a command that is run here and not shown there is noticed. */
function shown(command: string): string[] {
  expect(readme).toMatch(new RegExp(`^${command}( |$)`, "m"));
  return command.split(" ");
}

describe("the package", () => {
  it("holds what runs and what is read, and no test", () => {
    const places = new Set(packed.contents.map((path) => path.split("/")[0]));
    expect([...places].sort()).toEqual(["LICENSE", "README.md", "bin", "dist", "docs", "package.json"]);
    expect(packed.contents.filter((path) => /\.test\b|fixture|\.map$|(?<!\.d)\.ts$/.test(path))).toEqual([]);
    expect(packed.contents).toContain("bin/tsweb.js");
  });

  it("installs cleanly, with at most 12 packages of its own choosing", async () => {
    const tree = JSON.parse(await guestBook.run("npm", "ls", "--json", "--all"));
    expect(tree.problems).toBeUndefined();
    const listed: Record<string, { version?: string }> = tree.dependencies.tsweb.dependencies;
    // Optional peers are listed as well, without a version where nobody has installed them.
    const direct = Object.values(listed).filter(({ version }) => version !== undefined);
    expect(direct.length).toBeGreaterThan(0);
    expect(direct.length).toBeLessThanOrEqual(12);
  });
});

describe("the first application", () => {
  it("is shown whole", () => {
    expect([...files.keys()]).toEqual([
      "package.json",
      "tsconfig.json",
      "src/guests.server.ts",
      "src/guest-book.tsx",
      "src/pages.server.tsx",
      "src/app.ts",
    ]);
  });

  it("type-checks, the package's own types included; a wrong argument does not", async () => {
    const [command = "", ...args] = shown("npx tsc");
    await guestBook.run(command, ...args);
    const wrong = 'import { sign } from "./guests.server.ts";\nexport const wrong = sign(1);\n';
    guestBook.write("src/wrong.ts", wrong);
    await expect(guestBook.run(command, ...args)).rejects.toThrow(
      "src/wrong.ts(2,27): error TS2345: Argument of type 'number' is not assignable to parameter of type 'string'.",
    );
    await guestBook.run("rm", "src/wrong.ts");
  });
});

describe("built, moved to where no package is, and served", () => {
  const elsewhere = emptyFolder();
  let running: Running;

  beforeAll(async () => {
    const [command = "", ...args] = shown("npx tsweb build");
    await guestBook.run(command, ...args);
    renameSync(join(guestBook.dir, "dist"), join(elsewhere.dir, "dist"));
    expect(modulesAbove(join(elsewhere.dir, "dist"))).toEqual([]);
    running = await startNode(elsewhere.dir, ["dist/server.mjs"], {
      WEB_ENV: "production",
      WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    });
  });

  afterAll(async () => {
    const code = await running?.stop();
    elsewhere.remove();
    expect(code).toBe(0);
  });

  const sign = async (args: object) => {
    const response = await fetch(`${running.address}/__web/rpc/sign`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ args }),
    });
    return { status: response.status, body: await response.json() };
  };

  it("answers calls, and refuses what the function refuses", async () => {
    expect(await sign({ name: "  Ada  Lovelace " })).toEqual({ status: 200, body: { result: ["Ada Lovelace"] } });
    expect(await sign({ name: "" })).toEqual({
      status: 422,
      body: { error: { code: "validation_error", message: expect.stringContaining("your name"), details: {} } },
    });
  });

  it("shows on its page what was called", async () => {
    const response = await fetch(running.address);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("<li>Ada Lovelace</li>");
  });

  it("comes alive in the browser", async () => {
    const { page, complaints, preacts, close } = await visit(browser, running.address);
    await signAs(page, "Grace <Hopper>");
    expect(await page.locator("li").allTextContents()).toEqual(["Grace <Hopper>", "Ada Lovelace"]);
    expect(await page.getByLabel("Your name").inputValue()).toBe("");
    expect(await refusal(page)).toBe("Please write your name, in 80 letters at most.");
    expect(await preacts()).toHaveLength(1);
    expect(complaints).toEqual([]);
    await close();
  });
});

describe("in development", () => {
  let running: Running;
  let visitor: Visit;

  beforeAll(async () => {
    const [, command = "", ...args] = shown("npx tsweb dev");
    running = await startNode(guestBook.dir, [join("node_modules", ".bin", command), ...args]);
    visitor = await visit(browser, running.address);
  });

  afterAll(async () => {
    await visitor?.close();
    expect(await running?.stop()).toBe(0);
  });

  it("comes alive at the first visit, without a reload, and with one Preact", async () => {
    const { page } = visitor;
    await signAs(page, "Ada Lovelace");
    expect(await refusal(page)).toBe("Please write your name, in 80 letters at most.");
    expect(await visitor.preacts()).toHaveLength(1);
    expect(visitor.loads()).toBe(1);
    expect(visitor.complaints).toEqual([]);
  });

  it("shows an edited view with its state kept", async () => {
    const { page } = visitor;
    await page.getByLabel("Your name").fill("half typed");
    const view = files.get("src/guest-book.tsx") ?? "";
    guestBook.write("src/guest-book.tsx", view.replace(">Sign<", ">Write it down<"));
    await page.getByRole("button", { name: "Write it down" }).waitFor();
    expect(await page.getByLabel("Your name").inputValue()).toBe("half typed");
    expect(visitor.loads()).toBe(1);
    expect(visitor.complaints).toEqual([]);
  });

  it("reloads the page for an edited page module", async () => {
    const { page } = visitor;
    const pages = files.get("src/pages.server.tsx") ?? "";
    guestBook.write("src/pages.server.tsx", pages.replace("<h1>Guest book", "<h1>Our guests"));
    await page.getByRole("heading", { name: "Our guests" }).waitFor();
    await expect.poll(() => visitor.loads()).toBe(2);
    expect(visitor.complaints).toEqual([]);
  });
});
