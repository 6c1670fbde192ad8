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
      'import { Head, page } from "tsweb";',
      'import { Echo } from "./note.tsx";',
      'import * as words from "./counter.tsx";',
      "const Slow = async () => <p>slow</p>; const images: any = { Icon: '/icon.svg' };",
      "const soon = async (): Promise<any> => [Head, Echo, words, Slow];",
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
