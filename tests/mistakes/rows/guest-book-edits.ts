/** Edits of the guest book that many rows use. */
import type { Edit, Mistake } from "../mistake.ts";

export const VIEW = "src/guest-book.tsx";
export const PAGES = "src/pages.server.tsx";
export const GUESTS = "src/guests.server.ts";
export const APP = "src/app.ts";

export const VIEW_IMPORT = 'import { RPCError, state, view } from "tsweb/browser";';
export const PAGE_IMPORT = 'import { page } from "tsweb";';

/** Adds a line in front of the first import of the view. */
export const inView = (line: string): Edit => ({ file: VIEW, from: VIEW_IMPORT, to: `${line}\n${VIEW_IMPORT}` });
/** Adds names to the import of `tsweb/browser` in the view. */
export const fromBrowser = (name: string): Edit => ({
  file: VIEW,
  from: "{ RPCError, state, view }",
  to: `{ ${name}, RPCError, state, view }`,
});
/** Adds markup in front of the list of the view, in line 22 from column 7. */
export const inMarkup = (markup: string): Edit => ({
  file: VIEW,
  from: "      <ul>",
  to: `      ${markup}\n      <ul>`,
});
/** Replaces the path of the page, in line 5. */
export const withPath = (path: string): Edit => ({ file: PAGES, from: 'page("/"', to: `page(${JSON.stringify(path)}` });

/** Adds a query to the module of the guests, in line 4. */
export const withQuery = (query: string): readonly Edit[] => [
  { file: GUESTS, from: "import { server,", to: "import { publish, query, server," },
  {
    file: GUESTS,
    from: "export async function everyone",
    to: `export const guests = ${query};\n\nexport async function everyone`,
  },
];

/** A mistake that the error page shows at one place. */
export const row = (
  mistake: string,
  edits: readonly Edit[],
  at: string,
  says: Mistake["says"],
  fix: Mistake["fix"],
): Mistake => ({
  mistake,
  edits,
  places: ["page"],
  at,
  says,
  fix,
});

/**
 * Returns edits with which the page `/0` shows the first of several expressions in the view, `/1` the second, and so on. Each row
 * about one of them has these edits, and its page as the path.
 *
 * @param expressionEdit the edit that puts an expression into the view
 */
export const viewVariants = (
  expressions: readonly string[],
  expressionEdit: (expression: string) => Edit,
): readonly Edit[] => [
  ...VARIANT_PAGE,
  { file: PAGES, from: "<GuestBook ", to: "<GuestBook variant={variant} " },
  {
    file: VIEW,
    from: "({ guests }: { guests: string[] })",
    to: "({ guests, variant }: { guests: string[]; variant: string })",
  },
  expressionEdit(chosen(expressions)),
];

/** As {@link viewVariants}, for expressions in the page. */
export const pageVariants = (
  expressions: readonly string[],
  expressionEdit: (expression: string) => Edit,
): readonly Edit[] => [...VARIANT_PAGE, expressionEdit(chosen(expressions))];

/** Takes the variant from the path of the page, in line 5. */
const VARIANT_PAGE: readonly Edit[] = [
  { file: PAGES, from: 'page("/", async () =>', to: 'page("/:variant", async ({ variant }) =>' },
];

/** Returns an expression that is one of several, by the variant. */
const chosen = (expressions: readonly string[]) =>
  `${expressions.map((expression, index) => `variant === "${index}" ? ${expression} : `).join("")}null`;

/** The rows of variants, in the order of their expressions. */
export const variantRows = <Row extends object>(rows: readonly Row[], edits: readonly Edit[]) =>
  rows.map((row, index) => ({ ...row, edits, path: `/${index}` }));
