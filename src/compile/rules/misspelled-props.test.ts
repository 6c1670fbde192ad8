import { describe, expect, test } from "vitest";
import { compileErrorOf, inMemoryResolver, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { checkPropNames } from "./misspelled-props.ts";

const FILES = {
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
const HEAD = 'import Default, { Book, Card, Either, Extended, Imported, List, Open, Plain } from "./book.tsx";\n';

const check = (markup: string) =>
  checkPropNames(readTestModule("src/pages.server.tsx", `${HEAD}export const x = ${markup};`), inMemoryResolver(FILES));

describe("a misspelled prop", () => {
  test.each([
    ["<Book «gests={[]} />", 'Book has no prop "gests". Did you mean "guests"?'],
    ["<main><Book page={1} «Guests={[]} key={1} /></main>", 'Book has no prop "Guests". Did you mean "guests"?'],
    ['<Card «titel="a" />', 'Card has no prop "titel". Did you mean "title"?'],
    ['<Default «titel="a" />', 'Default has no prop "titel". Did you mean "title"?'],
    ["<List save={f} aria-label='x' «item={[]} />", 'List has no prop "item". Did you mean "items"?'],
  ])("is rejected at the attribute: %s", async (markup, message) => {
    const error = await compileErrorOf(() => check(markup));
    expect(error.message).toBe(message);
    const { location } = parseMarkedCode(`${HEAD}export const x = ${markup};`);
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
    await expect(check(markup)).resolves.toBeUndefined();
  });
});
