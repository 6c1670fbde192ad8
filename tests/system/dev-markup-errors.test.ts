/**
 * Mistakes in markup during development: the error page shows the location of the element, which is not in the stack.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

let site: TestProject;
let dev: RunningServer;

beforeAll(async () => {
  site = TestProject.copy();
  dev = await startDev(site.dir);
});

afterAll(async () => {
  const code = await dev?.stop();
  site?.remove();
  expect(code).toBe(0);
});

/**
 * Writes a page with an element, and returns the text of its error page, once it contains the sentence, and the location
 * of the element.
 */
async function errorPageOf(
  element: string,
  { path, sentence }: { path: string; sentence: string },
): Promise<{ text: string; location: string }> {
  const name = path.slice(1);
  site.write(
    `src/${name}.server.tsx`,
    [
      'import { Head, Later, page } from "tsweb";',
      'import { Echo } from "./note.tsx";',
      'import * as words from "./counter.tsx";',
      "const Slow = async () => <p>slow</p>; const images: any = { Icon: '/icon.svg' };",
      "const soon = async (): Promise<any> => [Head, Later, Echo, words, Slow];",
      `export const ${name} = page("${path}", () => (`,
      "  <main>",
      "    <h1>Markup</h1>",
      `    <p>text</p> ${element}`,
      "  </main>",
      "));",
    ].join("\n"),
  );
  site.edit("src/app.ts", "export default", `import * as ${name} from "./${name}.server.tsx";\nexport default`);
  site.edit("src/app.ts", "modules: [", `modules: [${name}, `);
  let text = "";
  const readPage = async () => {
    const html = await (await fetch(dev.address + path)).text();
    text = html.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"');
    return text;
  };
  await expect.poll(readPage).toContain(sentence);
  return { text, location: `src/${name}.server.tsx:9:${"    <p>text</p> ".length + 1}` };
}

it.each([
  ["a promise for a prop", "<Echo text={soon() as never} />", "The view Echo has a prop that cannot be sent"],
  ["children of a view", '<Echo {...{ text: "x", children: "y" }} />', "The view Echo has children"],
  ["a promise for a child", "<b>{soon() as never}</b>", "A promise cannot be rendered in <b>"],
  ["an async component", "<Slow {...({} as never)} />", "Slow returned a promise"],
  [
    "an event handler outside of a view",
    "<button {...{ onClick: () => 1 }}>press</button>",
    "The prop onClick of <button> is a function",
  ],
  [
    "an async component in place of a function",
    "<Later>{(<Slow />) as never}</Later>",
    "<Later> has the element <Slow>",
  ],
  ["a promise in place of a function", "<Later>{soon() as never}</Later>", "<Later> has a promise as its child."],
  ["a head in a head", "<Head><Head /></Head>", "<Head> is used inside another <Head>"],
  ["a component that is undefined", "<words.Missing />", "The component of this element is undefined."],
  ["an object as a class", "<b {...{ class: { new: true } }} />", "The attribute class of <b> is an object."],
  ["an image in place of a component", "<images.Icon />", 'The component of this element is the URL "/icon.svg"'],
])("shows the location of %s", async (title, element, sentence) => {
  const { text, location } = await errorPageOf(element, { path: `/${title.replaceAll(" ", "_")}`, sentence });
  const inner = element.startsWith("<Head>")
    ? location.replace(/\d+$/, (column) => String(Number(column) + 6))
    : location;
  expect(text).toContain(inner);
  expect(text).toContain(`>    9 |     <p>text</p> ${element}`);
});

it("shows the location of a page that returns undefined", async () => {
  site.write(
    "src/nothing.server.tsx",
    'import { page } from "tsweb";\n\nexport const nothing = page("/nothing", () => undefined);\n',
  );
  site.edit("src/app.ts", "export default", 'import * as nothing from "./nothing.server.tsx";\nexport default');
  site.edit("src/app.ts", "modules: [", "modules: [nothing, ");
  const pageText = async () => (await fetch(`${dev.address}/nothing`)).text();
  await expect.poll(pageText).toContain("The page returned undefined.");
  expect(await pageText()).toContain("src/nothing.server.tsx:3:1");
});

it("the log names the place of a part that decides too late, and the line in it", async () => {
  const effects = [
    ["login", 'session.login("ada")', 'The cookie "'],
    ["cookie", 'request.set_cookie("late", "1")', 'The cookie "late" cannot be set'],
    ["missing", '{ throw new NotFound("none"); }', "throws not_found (none), but the status of the page was sent"],
    ["required", "session.require().sub", "throws unauthenticated"],
    ["moved", 'redirect("/")', 'redirects to "/", but the status of the page was sent before its parts.'],
    ["head", "<Head><title>x</title></Head>", "<Head> is used inside <Later>"],
    ["html", '<Html lang="de" />', "<Html> is used inside <Later>"],
    ["body", '<Body class="x" />', "<Body> is used inside <Later>"],
  ] as const;
  const pages = effects.map(
    ([name, effect]) =>
      `export const ${name} = page("/late/${name}", () => <main><Later>{(): any =>\n${effect}\n}</Later></main>);\n`,
  );
  const names = "Body, Head, Html, Later, NotFound, page, redirect, request, session";
  site.write(
    "src/late.server.tsx",
    `import { ${names} } from "tsweb";\n${pages.join("")}export const ready = page("/late", () => "ready");\n`,
  );
  site.edit("src/app.ts", "export default", 'import * as late from "./late.server.tsx";\nexport default');
  site.edit("src/app.ts", "modules: [", "modules: [late, ");
  const headers = { "sec-fetch-mode": "navigate" };
  await expect.poll(async () => (await fetch(`${dev.address}/late`)).status).toBe(200);
  for (const [index, [name, , message]] of effects.entries()) {
    const start = dev.output().length;
    expect(await (await fetch(`${dev.address}/late/${name}`, { headers })).text()).toContain("<h1>");
    const line = 2 + index * 3;
    const logged = () => dev.output().slice(start);
    await expect.poll(logged).toContain(message);
    expect(logged()).toContain(`<Later> (src/late.server.tsx:${line}:`);
    // The redirect is a value that the function has returned.
    if (name !== "moved") await expect.poll(logged).toContain(`src/late.server.tsx:${line + 1}:`);
  }
});
