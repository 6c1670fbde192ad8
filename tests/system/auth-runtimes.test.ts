/** The built tsweb/auth on this Node. `npm run matrix` runs it on each Node, Bun and Deno. */
import { expect, test } from "vitest";
import { checkToolkit } from "../conformance/auth-toolkit.ts";

test("tsweb/auth returns the right results when it runs outside of Vitest", async () => {
  const differences = await checkToolkit(process.execPath, []);
  expect(Object.keys(differences).length).toBeGreaterThan(15);
  expect(Object.entries(differences).filter(([, difference]) => difference !== null)).toEqual([]);
});
