/**
 * The fixture of a site (tests/system/fixtures/site) with what the tests of built servers need, built once in a run of the tests.
 */
import { buildOnce } from "./shared-builds.ts";
import { TestProject } from "./test-project.ts";

/** What may fail while modules are loaded. */
const LOADING = `if (process.env.LOADING_FAILS) throw new Error("The licence is missing");
if (process.env.LOADING_EXITS) process.exit(3);`;

/** It writes that it runs, and fails where a variable says so. */
const ON_START = `async () => {
  await new Promise((resolve) => setTimeout(resolve, 1));
  console.log("on_start runs");
  if (process.env.START_FAILS) throw new Error("The database is missing");
}`;

/** A text in a comment and in the code of a server module. */
export const SERVER_MARKER = "marker-3f1c0de5a7b9";

/** Copies and builds the site. The caller removes it. */
export async function buildSite(): Promise<TestProject> {
  const site = TestProject.copy();
  site.edit("src/app.ts", "App({", `App({ on_start: ${ON_START},`);
  site.edit("src/app.ts", "export default", `${LOADING}\nexport default`);
  const module = "src/functions.server.ts";
  const code = `if (process.env.SHOWS_MARKER) console.log(${JSON.stringify(SERVER_MARKER)});`;
  site.write(module, `${site.read(module)}\n/* ${SERVER_MARKER} */ ${code}\n`);
  site.write("public/digits.txt", "0123456789".repeat(1_000));
  site.write("public/photo.jpg", "photo".repeat(1_000));
  site.write("public/a name, 100%.txt", "unusual");
  site.write("public/assets/logo-1a2b3c4d.svg", "<svg/>");
  site.write("public/.htpasswd", "ada:SECRET");
  site.write("public/.well-known/security.txt", "Contact: nobody");
  await buildOnce(site.dir, "served-site");
  return site;
}
