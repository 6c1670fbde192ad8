import { describe, expect, test } from "vitest";
import {
  compileErrorAt,
  compileErrorOf,
  inMemoryResolver,
  parseMarkedCode,
  readTestModule,
} from "#test/in-memory-modules";
import { checkPropNames, checkViewProps } from "./props.ts";

const FILES = {
  "src/picker.tsx": `
    import { view } from "tsweb/browser";
    export const Picker = view(() => <p />);
    export const Plain = ({ onPick }) => <p>{onPick()}</p>;
    export default view(() => <p />);
  `,
  "src/data.server.ts": `
    import { server } from "tsweb";
    export const load = server((id: string) => id);
    export function save(id: string): void {}
    export const remove = (async (id: string) => {}) satisfies Remove;
    export const made = make(() => 1);
    export const names = ["Ada"];
    export default () => 1;
  `,
  "src/barrel.ts": 'export { save as keep } from "./data.server.ts"; export { Picker as Chooser } from "./picker.tsx";',
};

const HEAD = [
  'import run, { load, made, names, remove, save } from "./data.server.ts";',
  'import * as data from "./data.server.ts";',
  'import { Chooser, keep } from "./barrel.ts";',
  'import Main, { Picker, Plain } from "./picker.tsx";',
  'import * as views from "./picker.tsx";',
  'import { missing } from "a-package";',
  "",
].join("\n");

const checkFunctions = (code: string, file = "src/a.server.tsx") =>
  checkViewProps(readTestModule(file, HEAD + code), inMemoryResolver(FILES));

describe("a function as a prop of a view in a page", () => {
  test.each([
    "const A = () => <Picker «onPick={save} />;",
    "const A = () => <Picker «pick={remove} />;",
    "const A = () => <Picker title='Pick' «pick={keep}></Picker>;",
    "const A = () => <Chooser «pick={run} />;",
    "const A = () => <views.Picker «pick={data.save} />;",
    "const A = () => <Main «pick={() => 1} />;",
    "const A = () => <p>{rows.map((row) => <Picker key={row} «pick={() => row} />)}</p>;",
    "const A = () => <Picker «pick={function () { return 1; }} />;",
    "const A = () => <Picker «pick={ok ? undefined : save} />;",
    "const A = () => <Picker «pick={ok && (save as Pick)} />;",
    "const A = () => { const pick = () => 1; return <Picker «pick={pick} />; };",
    "function pick() {} const A = () => <Picker «pick={pick} />;",
  ])("is rejected: %s", async (code) => {
    const error = await compileErrorAt("src/a.server.tsx", HEAD + code, () => checkFunctions(code));
    expect(error.message).toMatch(/^The view "\w+" has a function as its prop (?:onPick|pick)\. .*JSON.* Declare the/);
  });

  test.each(["const A = () => <Picker «pick={load} />;", "const A = () => <Picker «pick={data.load} />;"])(
    "is rejected with where the view imports it from if it is a server function: %s",
    async (code) => {
      const error = await compileErrorOf(() => checkFunctions(code));
      expect(error.message).toBe(
        'The view "Picker" has a function as its prop pick. Its props are sent to the browser as JSON, which has no functions. ' +
          'Import the server function in the module of the view: `import { load } from "./data.server.ts"`.',
      );
      expect(error.loc).toEqual({ file: "/app/src/a.server.tsx", ...parseMarkedCode(HEAD + code).location });
    },
  );

  test.each([
    "const A = () => <Plain onPick={save} load={load} />;",
    "const A = () => <Picker names={names} first={names[0]} made={made} from={missing} />;",
    "const A = () => <Picker name={run()} all={names.map((name) => name)} {...{ pick: save }} />;",
    "const A = () => <Picker key={save} ref={() => {}} title='a' isOpen />;",
    "const A = () => <p onClick={save} />;",
    "const A = () => { const save = 1; return <Picker pick={save} />; };",
    "const A = ({ save }) => <Picker pick={save} />;",
    "const A = ({ Picker }) => <Picker pick={save} />;",
  ])("is not reported for other values and components: %s", async (code) => {
    await expect(checkFunctions(code)).resolves.toBeUndefined();
  });

  test("is accepted in a component that is no server module, which may be part of a view", async () => {
    await expect(checkFunctions("const A = () => <Picker pick={save} />;", "src/a.tsx")).resolves.toBeUndefined();
  });
});

const BOOK_FILES = {
  "src/book.tsx": `import { view } from "tsweb/browser";
import type { Outer } from "./types.ts";
interface CardProps { title: string; size?: number }
interface More extends CardProps { color: string }
type Row = { readonly items: string[]; "aria-label": string; save(): void };
export const Book = view(({ guests }: { guests: string[]; page?: number }) => <ul />);
export function Card({ title }: CardProps) { return <b />; }
export const List = (props: Row) => <b />;
export const Extended = (props: More) => <b />;
export const Imported = (props: Outer) => <b />;
export const Plain = ({ guests }) => <b />;
export const Open = (props: { guests: string[]; [name: string]: unknown }) => <b />;
export const Either = (props: { guests: string[] } | { names: string[] }) => <b />;
export default Card;
`,
};
const BOOK_HEAD = 'import Default, { Book, Card, Either, Extended, Imported, List, Open, Plain } from "./book.tsx";\n';

const checkNames = (markup: string) =>
  checkPropNames(
    readTestModule("src/pages.server.tsx", `${BOOK_HEAD}export const x = ${markup};`),
    inMemoryResolver(BOOK_FILES),
  );

describe("a misspelled prop", () => {
  test.each([
    ["<Book «gests={[]} />", 'Book has no prop "gests". Did you mean "guests"?'],
    ["<main><Book page={1} «Guests={[]} key={1} /></main>", 'Book has no prop "Guests". Did you mean "guests"?'],
    ['<Card «titel="a" />', 'Card has no prop "titel". Did you mean "title"?'],
    ['<Default «titel="a" />', 'Default has no prop "titel". Did you mean "title"?'],
    ["<List save={f} aria-label='x' «item={[]} />", 'List has no prop "item". Did you mean "items"?'],
  ])("is rejected at the attribute: %s", async (markup, message) => {
    const error = await compileErrorOf(() => checkNames(markup));
    expect(error.message).toBe(message);
    const { location } = parseMarkedCode(`${BOOK_HEAD}export const x = ${markup};`);
    expect(error.loc).toEqual({ file: "/app/src/pages.server.tsx", ...location });
  });

  test.each([
    "<Book guests={[]} />",
    "<Book guests={[]} gests={[]} />",
    "<Book pag={1} guests={[]} />",
    "<Book other={1} />",
    "<Book gests={[]} {...rest} />",
    "<Extended colour='x' title='x' />",
    "<Imported gests={[]} />",
    "<Plain gests={[]} />",
    "<Open gests={[]} />",
    "<Either gests={[]} />",
    "<Missing gests={[]} />",
    "<ul gests={1} />",
    "((Book) => <Book gests={[]} />)(Other)",
  ])("is not reported where it may be one, or only types can tell: %s", async (markup) => {
    await expect(checkNames(markup)).resolves.toBeUndefined();
  });
});
