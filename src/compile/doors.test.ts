import { describe, expect, test } from "vitest";
import { marked, read, refusedWith } from "#test/marked";
import * as browser from "../browser/index.ts";
import * as server from "../index.ts";

const doors = [
  { door: "tsweb", here: server, other: "tsweb/browser", there: browser },
  { door: "tsweb/browser", here: browser, other: "tsweb", there: server },
] as const;

describe.each(doors)("a name of $door", ({ door, here, other, there }) => {
  const own = Object.keys(here).filter((name) => !(name in there));

  test.each(own)("is sent there from the other door: %s", async (name) => {
    const text = `import {\n  RPCError,\n  «${name} as renamed,\n} from "${other}";`;
    const error = await refusedWith(() => read("src/a.tsx", text));
    expect(error.message).toBe(`${name} comes from "${door}", not from "${other}".`);
    expect(error.loc).toMatchObject(marked(text).place ?? {});
  });

  test.each(Object.keys(here))("is taken from its own: %s", (name) => {
    expect(() => read("src/a.tsx", `import { ${name} } from "${door}";\n`)).not.toThrow();
  });

  test("is nothing to refuse as a type, in another package, or of another name", () => {
    const [name] = own;
    for (const code of [
      `import type { ${name} } from "${other}";`,
      `import { type ${name} } from "${other}";`,
      `import { ${name} } from "${other}-more";`,
      `import { other as ${name} } from "${other}";`,
      `import ${name} from "${other}";`,
      `import * as ${name} from "${other}";`,
    ]) {
      expect(() => read("src/a.tsx", code)).not.toThrow();
    }
  });
});
