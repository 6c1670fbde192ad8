import { expect, it } from "vitest";
import { withShortUrls } from "./client.ts";

const importOf = (target: string) => `import(new URL(${target}, import.meta.url).href)`;

it.each([
  ['"form-sending-a1.js"', 'import("./form-sending-a1.js")'],
  [`\`chunks/\${name}.js\``, `import(\`./chunks/\${name}.js\`)`],
  ["'chunks/a:b.js'", "import('./chunks/a:b.js')"],
])("an import of the relative URL %s is shortened", (target, expected) => {
  expect(withShortUrls(importOf(target))).toBe(expected);
});

it.each([
  '"https://cdn.example/x.js"',
  '"data:text/javascript,1"',
  `\`https\${s}://cdn.example/x.js\``,
  '"//cdn.example/x.js"',
  '"/x.js"',
])("an import of the URL %s stays as it is", (target) => {
  expect(withShortUrls(importOf(target))).toBe(importOf(target));
});
