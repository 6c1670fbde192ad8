import { describe, expect, test } from "vitest";
import { compileErrorOf, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import * as browser from "../browser/index.ts";
import * as server from "../index.ts";

const entryPoints = [
  { name: "tsweb", exports: server, other: "tsweb/browser", otherExports: browser },
  { name: "tsweb/browser", exports: browser, other: "tsweb", otherExports: server },
] as const;

describe.each(entryPoints)("an export of $name", ({ name: entryPoint, exports, other, otherExports }) => {
  const exclusive = Object.keys(exports).filter((name) => !(name in otherExports));

  test.each(exclusive)("is rejected when it is imported from the other entry point: %s", async (name) => {
    const text = `import {\n  RPCError,\n  «${name} as renamed,\n} from "${other}";`;
    const error = await compileErrorOf(() => readTestModule("src/a.tsx", text));
    expect(error.message).toBe(`"${other}" does not export ${name}. Import it from "${entryPoint}".`);
    expect(error.loc).toMatchObject(parseMarkedCode(text).location ?? {});
  });

  test.each(Object.keys(exports))("is accepted from its own entry point: %s", (name) => {
    expect(() => readTestModule("src/a.tsx", `import { ${name} } from "${entryPoint}";\n`)).not.toThrow();
  });

  test("is accepted as a type, from another package, and as an alias of another export", () => {
    const [name] = exclusive;
    for (const code of [
      `import type { ${name} } from "${other}";`,
      `import { type ${name} } from "${other}";`,
      `import { ${name} } from "${other}-more";`,
      `import { other as ${name} } from "${other}";`,
      `import ${name} from "${other}";`,
      `import * as ${name} from "${other}";`,
    ]) {
      expect(() => readTestModule("src/a.tsx", code)).not.toThrow();
    }
  });
});
