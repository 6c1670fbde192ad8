import { waitForHydration } from "../acts.ts";
import type { Edit, Mistake } from "../mistake.ts";
import { GUESTS, VIEW, variantRows, viewVariants } from "./guest-book-edits.ts";

/** Replaces the form's start tag in the view, in line 18. */
const form = (to: string): Edit => ({ file: VIEW, from: "<form onSubmit={submit}>", to });
const field = (to: string): Edit => ({ file: VIEW, from: '<p role="alert">{book.error}</p>', to });

const ACTION = "<form action={sign}>";

/** Rows about the form with fields, one for each row, which all are in line 21. */
const fieldRows = (
  rows: readonly (Pick<Mistake, "mistake" | "says" | "fix"> & { field: string })[],
  more: readonly Edit[],
) =>
  variantRows(rows, [
    ...viewVariants(
      rows.map((row) => row.field),
      (expression) => field(`{${expression}}`),
    ),
    form(ACTION),
    ...more,
  ]).map((row): Mistake => ({ ...row, places: ["terminal"], at: `${VIEW}:18` }));

export const mistakes: readonly Mistake[] = [
  {
    mistake: "passes a function of the browser as the action of a form",
    edits: [form("<form action={() => {}}>")],
    places: ["build", "page", "terminal"],
    at: `${VIEW}:18`,
    says: "The action of a form must be a server function, and this is another function.",
    fix: "Declare it with server() in a server module. To run code in the browser, use `onSubmit` in a view.",
  },
  {
    mistake: "passes a function with FormData as the action of a form, for the type checker",
    edits: [form("<form action={async (data: FormData) => void data}>")],
    places: ["types"],
    at: `${VIEW}:18`,
    says: "is not assignable to type 'UrlOrServerFunction'",
    fix: "required in type 'FunctionDeclaredWithServer'",
  },
  {
    mistake: "binds an argument of an action",
    edits: [form("<form action={sign.bind(null, book.name)}>")],
    places: ["build", "page", "terminal"],
    at: `${VIEW}:18`,
    says: "bind() does not work for the action of a form",
    fix: 'send the value in a hidden field: `<input type="hidden" name="id" value={id} />`',
  },
  {
    mistake: "declares an action with FormData",
    edits: [
      form(ACTION),
      {
        file: GUESTS,
        from: "async (name: string) => {",
        to: "async (previous: unknown, data: FormData) => { const name = String(data);",
      },
    ],
    places: ["build", "page", "terminal"],
    at: `${GUESTS}:9`,
    says: "The parameter data of sign is `FormData`, which no form fills in",
    fix: "Declare the fields in place of data, with `File` for a file: `sign = server(async (name: string, age: int) => …)`.",
  },
  {
    mistake: "sends a server function with GET",
    edits: [form('<form action={sign} method="get">')],
    places: ["page", "terminal"],
    at: `${VIEW}:18`,
    says: 'The form of sign has method="get", which would be ignored',
    fix: "Leave the attribute out. For a form in the URL, use a path as the action.",
  },
  {
    mistake: "has no field for a parameter",
    edits: [form(ACTION)],
    places: ["terminal"],
    at: `${VIEW}:18`,
    says: "The form of sign (src/guest-book.tsx:18:5) has no field for the required parameter name",
    fix: "so that every submission is refused",
  },
  {
    mistake: "has a text field for a file",
    edits: [
      form(ACTION),
      {
        file: GUESTS,
        from: "async (name: string) => {\n  const line = name",
        to: "async (file: File) => {\n  const name = file.name;\n  const line = name",
      },
      { file: VIEW, from: "<button type", to: '<input name="file" /><button type' },
    ],
    places: ["terminal"],
    at: `${VIEW}:18`,
    says: 'has a text in the field "file", but the parameter is a File',
    fix: 'Use <input type="file" name="file" />.',
  },
  {
    mistake: "returns an error to a form that shows no result",
    edits: [
      form(ACTION),
      field('<input name="name" />'),
      { file: GUESTS, from: "  return everyone();\n});", to: '  return { error: "Taken." };\n});' },
      { file: VIEW, from: "book.guests = await sign(book.name);", to: "await sign(book.name);" },
    ],
    act: async (page) => {
      await page.fill("[name=name]", "Ada");
      await page.evaluate(() => document.forms[0]?.submit());
    },
    places: ["terminal"],
    at: `${GUESTS}:9`,
    says: "returned { error: … } to a form, and no form() in the page shows it",
    fix: 'throw new RPCError("validation_error", "…", { parameter: "name" })',
  },
  {
    mistake: "calls the action of a form while rendering",
    edits: [form('<form action={sign("Ada")}>')],
    places: ["build", "page", "terminal"],
    at: `${VIEW}:18:19`,
    says: "This calls the server function during the rendering.",
    fix: "Write action={sign}: the fields of the form become the arguments.",
  },
  {
    mistake: "has a field without a name",
    edits: [form(ACTION)],
    places: ["terminal"],
    at: `${VIEW}:19`,
    says: "An <input> (src/guest-book.tsx:19:7) has no name, so it is not sent.",
    fix: 'Is it name="name"?',
  },
  {
    mistake: "shows no error of the handle of a form",
    edits: [
      { file: VIEW, from: "import { RPCError,", to: "import { form, RPCError," },
      { file: VIEW, from: 'name: "", error: "" });', to: 'name: "", error: "" }); const saving = form(sign);' },
      form("<form action={saving}>"),
      field('<input name="name" id="sent" />'),
    ],
    act: async (page) => {
      await waitForHydration(page);
      await page.fill("#sent", " ");
      await page.click("button");
    },
    places: ["terminal", "console"],
    at: `${VIEW}:5:71`,
    says: "The form of sign was refused",
    fix: '`<p role="alert">{handle.error?.message}</p>`',
  },
  ...fieldRows(
    [
      {
        mistake: "misspells the name of a field",
        field: '<><input name="nmae" /><input type="hidden" name="name" /></>',
        says: 'has a field "nmae" that is no parameter, so it is ignored',
        fix: "Parameters: name.",
      },
      {
        mistake: "has a file field for a text",
        field: '<input type="file" name="name" />',
        says: 'has a file in the field "name", but the parameter is string',
        fix: "Declare it as name: File, or File[].",
      },
    ],
    [],
  ),
  ...fieldRows(
    [
      {
        mistake: "has radio buttons without a value",
        field: '<input name="name" type="radio" />',
        says: 'has a radio button "name" that sends "on", which is always refused, for the parameter name, which is declared as "Ada" | "Grace"',
        fix: 'Give it a value: <input type="radio" value="…" />.',
      },
      {
        mistake: "has an option whose text the function refuses",
        field: '<select name="name"><option>ada</option></select>',
        says: 'has an option of <select name="name"> that sends "ada", which is always refused',
        fix: 'Give it a value: <option value="…">ada</option>.',
      },
    ],
    [{ file: GUESTS, from: "async (name: string) =>", to: 'async (name: "Ada" | "Grace") =>' }],
  ),
];
