import { describe, expect, test } from "vitest";
import { compileErrorAt, readTestModule } from "#test/in-memory-modules";
import * as browser from "../../browser/index.ts";
import * as server from "../../index.ts";
import { serverNameMessage } from "./entry-points.ts";

const serverOnly = Object.keys(server).filter((name) => !(name in browser));
const browserOnly = Object.keys(browser).filter((name) => !(name in server));

async function messageOf(file: string, text: string): Promise<string> {
  const error = await compileErrorAt(file, text);
  return error.message;
}

describe("a name that only tsweb exports", () => {
  test.each(serverOnly)("is rejected from tsweb/browser, with what to do in a server module: %s", async (name) => {
    const text = `import {\n  RPCError,\n  «${name} as renamed,\n} from "tsweb/browser";`;
    expect(await messageOf("src/a.server.tsx", text)).toBe(
      `"tsweb/browser" does not export ${name}. Import it from "tsweb".`,
    );
  });

  test.each(serverOnly.filter((name) => name !== "App"))(
    "is rejected from tsweb/browser in another module, without the advice to import what it cannot import: %s",
    async (name) => {
      const message = await messageOf("src/a.tsx", `import { «${name} } from "tsweb/browser";`);
      expect(message).toMatch(
        new RegExp(`^"tsweb/browser" does not export ${name}, which exists on the server only\\. `),
      );
      expect(message).not.toContain('Import it from "tsweb".');
    },
  );

  test.each(serverOnly.filter((name) => !["server", "query", "page", "route"].includes(name)))(
    "is rejected in a module with views: %s",
    async (name) => {
      const text = `import { view } from "tsweb/browser";\nimport { «${name} } from "tsweb";`;
      expect(await messageOf("src/a.tsx", text)).toBe(serverNameMessage(name));
    },
  );
});

describe("a name that only tsweb/browser exports", () => {
  test.each(browserOnly)("is rejected from tsweb: %s", async (name) => {
    expect(await messageOf("src/a.tsx", `import { «${name} } from "tsweb";`)).toBe(
      `"tsweb" does not export ${name}. Import it from "tsweb/browser".`,
    );
  });

  test.each(browserOnly)("is rejected in a server module, which has no views: %s", async (name) => {
    const from = name === "view" ? "tsweb" : "tsweb/browser";
    expect(await messageOf("src/a.server.tsx", `import { «${name} } from "${from}";`)).toMatch(
      new RegExp(`^${name} works in views only.* Declare a view in a file without "\\.server" in its path`),
    );
  });
});

test.each(["RPCError", "form"])("%s is imported from tsweb/browser in a module with views", async (name) => {
  const text = `import { view } from "tsweb/browser";\nimport { «${name} } from "tsweb";`;
  expect(await messageOf("src/a.tsx", text)).toBe(
    `Browser code cannot import ${name} from "tsweb". Import it from "tsweb/browser".`,
  );
});

test.each([
  ["useState", "state", "tsweb/browser"],
  ["useEffect", "on_mount", "tsweb/browser"],
  ["onMount", "on_mount", "tsweb/browser"],
  ["onUnmount", "on_unmount", "tsweb/browser"],
  ["sendFile", "send_file", "tsweb"],
  ["notFound", "NotFound", "tsweb"],
  ["cookies", "request", "tsweb"],
  ["revalidatePath", "revalidate", "tsweb"],
  ["useOptimistic", "optimistic", "tsweb/browser"],
  ["useActionState", "form", "tsweb"],
  ["useActionState", "form", "tsweb/browser"],
])("%s is rejected with the name that tsweb has for it, which is %s", async (name, known, entryPoint) => {
  expect(await messageOf("src/a.tsx", `import { «${name} } from "${entryPoint}";`)).toBe(
    `"${entryPoint}" does not export ${name}. Import ${known} from "${entryPoint}".`,
  );
});

describe("a name that neither exports, and that is used as a value, is rejected with a similar name", () => {
  test.each([
    [
      'import { «revalidat } from "tsweb";\nrevalidat("/");',
      '"tsweb" exports no value revalidat. Did you mean revalidate?',
    ],
    [
      'import { type int, «navigate as go } from "tsweb";\ngo("/");',
      '"tsweb" exports no value navigate. Correct the name, or import it from another package.',
    ],
    [
      'import { «Latr } from "tsweb";\nexport const a = () => <Latr>a</Latr>;',
      '"tsweb" exports no value Latr. Did you mean Later?',
    ],
    ['import { «stat } from "tsweb/browser";\nstat({});', '"tsweb/browser" exports no value stat. Did you mean state?'],
  ])("%s", async (text, message) => {
    expect(await messageOf("src/a.tsx", text)).toBe(message);
  });
});

test("a view in a server module is reported as such, whatever the module imports from tsweb", async () => {
  const text =
    'import { form, session } from "tsweb";\nimport { view } from "tsweb/browser";\n' +
    "export const A = «view(() => null);\nform(session);";
  expect(await messageOf("src/a.server.tsx", text)).toMatch(/^view\(\) cannot be used in a server module/);
});

describe("an import is accepted", () => {
  test.each(Object.keys(server))("from tsweb: %s", (name) => {
    expect(() => readTestModule("src/a.tsx", `import { ${name} } from "tsweb";\n`)).not.toThrow();
  });

  test.each(Object.keys(browser))("from tsweb/browser: %s", (name) => {
    expect(() => readTestModule("src/a.tsx", `import { ${name} } from "tsweb/browser";\n`)).not.toThrow();
  });

  test.each([
    'import type { session } from "tsweb/browser";',
    'import { type session } from "tsweb/browser";',
    'import { Call, int } from "tsweb"; let a: Call<int>;',
    'import { session } from "tsweb-more";',
    'import { other as session } from "tsweb/browser";',
    'import session from "tsweb/browser";',
    'import * as session from "tsweb/browser";',
    'import { view } from "tsweb/browser"; import type { Session, session } from "tsweb";',
    'import { view } from "tsweb/browser"; import { type int } from "tsweb";',
  ])("%s", (code) => {
    expect(() => readTestModule("src/a.tsx", code)).not.toThrow();
  });
});
