import { show, sign } from "../acts.ts";
import type { Mistake } from "../mistake.ts";
import { APP, GUESTS, inMarkup, inView, row, VIEW, withQuery } from "./guest-book-edits.ts";

/** A mistake that the development server and the build reject with the same words. */
const compiled = (...parts: Parameters<typeof row>): Mistake => ({ ...row(...parts), places: ["page", "build"] });

const environment: readonly Mistake[] = [
  compiled(
    "reads a variable of the environment as import.meta.env in a view",
    [inMarkup("<p>{import.meta.env.API_URL}</p>")],
    `${VIEW}:22:11`,
    "import.meta.env.API_URL is undefined: browsers receive no variables of the environment",
    "Read process.env.API_URL in the page, and pass it as a prop",
  ),
  compiled(
    "reads a variable of the environment as import.meta.env on the server",
    [{ file: GUESTS, from: 'appendFile("guests.txt"', to: "appendFile(import.meta.env.GUESTS_FILE" }],
    `${GUESTS}:12:20`,
    "import.meta.env.GUESTS_FILE is undefined: Vite sets only the variables that it sends to browsers",
    "Write `process.env.GUESTS_FILE`",
  ),
];

const queries: readonly Mistake[] = [
  compiled(
    "publishes in a query",
    withQuery('query({ on: ["guests"] }, async () => { await publish("guests"); return everyone(); })'),
    `${GUESTS}:4:69`,
    'The query "guests" calls publish(), but a query only reads',
    "Call it in the page or in the server function that makes the change",
  ),
  compiled(
    "leaves out the type of a parameter of a query",
    withQuery('query({ on: (limit) => ["guests" + limit] }, (limit = 20) => limit)'),
    `${GUESTS}:4:69`,
    'The query "guests" has a parameter with a default and without a type',
    "Write its type",
  ),
];

const files: readonly Mistake[] = [
  {
    ...row(
      "refers to a missing public file in a style sheet",
      [
        { file: APP, from: "import { App }", to: 'import "./style.css";\nimport { App }' },
        { file: "src/style.css", to: "p { color: red }\nbody { background: url(/missing.png) }\n" },
      ],
      "src/style.css:2",
      "requests /missing.png, where nothing is served",
      'put the file at public/missing.png, or write the path of a file beside the style sheet with a dot: url("./missing.png")',
    ),
    places: ["terminal"],
    act: show,
  },
];

/** Adds a declaration at the end of the module of the server functions, in line 15. */
const inGuests = (names: string, code: string): Mistake["edits"] => [
  { file: GUESTS, from: "import { server,", to: `import { ${names}server,` },
  { file: GUESTS, from: "  return everyone();\n});\n", to: `  return everyone();\n});\n${code}\n` },
];

/** A warning about a line of the view, which the terminal shows. */
const warning = (...parts: Parameters<typeof row>): Mistake => ({ ...row(...parts), places: ["terminal"] });

const markup: readonly Mistake[] = [
  compiled(
    "writes v-if in a view",
    [inMarkup("<p v-if={book.error}>x</p>")],
    `${VIEW}:22:10`,
    "The attribute v-if has no effect: it is a directive of Vue",
    "Write `{isShown && <p>…</p>}`",
  ),
  compiled(
    "writes v-model in a view",
    [inMarkup('<input aria-label="Mail" v-model="book.name" />')],
    `${VIEW}:22:32`,
    "The attribute v-model has no effect: it is a directive of Vue",
    "Write `value={form.name} onInput=",
  ),
  compiled(
    "renders a list with forEach",
    [inMarkup("<ul>{book.guests.forEach((guest) => <li>{guest}</li>)}</ul>")],
    `${VIEW}:22:11`,
    "forEach returns nothing, so this markup is not shown",
    "Write map: ",
  ),
  compiled(
    "names a field like a member of its form",
    [inMarkup('<form><input name="childNodes" aria-label="Mail" /></form>')],
    `${VIEW}:22:20`,
    "A field named `childNodes` hides the member of its form that Preact needs",
    "Rename the field and the parameter",
  ),
  compiled(
    "uses a random key",
    [inMarkup("<p key={Math.random()}>x</p>")],
    `${VIEW}:22:10`,
    "This key is different at each rendering",
    "Use a value that stays, such as an id: `key={item.id}`",
  ),
  compiled(
    "reads the value of a checkbox",
    [inMarkup('<input type="checkbox" onChange={(event) => (book.name = event.currentTarget.value)} />')],
    `${VIEW}:22:64`,
    'The value of this element is always the text "on"',
    "Read `event.currentTarget.checked`",
  ),
  {
    ...warning(
      "writes a comment as text in markup",
      [inMarkup("// the names")],
      `${VIEW}:22`,
      'shows the comment "the names" as text, because it is in markup',
      "Write `{/* the names */}`",
    ),
    act: show, // the browser requests the module too, and its message is printed once
  },
  warning(
    "shows markup on the condition of a length",
    [inMarkup("{book.guests.length && <p>Names:</p>}")],
    `${VIEW}:22`,
    'shows "0" if book.guests.length is 0',
    "Write `{book.guests.length > 0 && …}`",
  ),
  warning(
    "misspells a class of a CSS module",
    [
      { file: "src/book.module.css", to: ".names { color: red }\n" },
      inView('import styles from "./book.module.css";'),
      inMarkup("<p class={styles.nmaes}>x</p>"),
    ],
    `${VIEW}:23`,
    "reads styles.nmaes, which is undefined: src/book.module.css has no class of this name",
    "Did you mean styles.names?",
  ),
];

const calls: readonly Mistake[] = [
  compiled(
    "declares a server function with the parameters of Express",
    inGuests("", "export const add = server((req, res) => res.json(req.body));"),
    `${GUESTS}:15:28`,
    'The server function "add" has the parameters (req, res) of a request handler of Express',
    "The parameters of a server function are the arguments of its caller",
  ),
  compiled(
    "calls a server function through mutate()",
    [{ file: VIEW, from: "await sign(book.name)", to: "await sign.mutate(book.name)" }],
    `${VIEW}:10:27`,
    "mutate",
    "sign(",
  ),
  compiled(
    "reads a field of the body of a request in a route",
    inGuests("route, ", 'export const hook = route("POST /hook", (request) => new Response(request.body.name));'),
    `${GUESTS}:15:67`,
    "A route receives a Request, whose body is a stream without name",
    "Read the body first: `const body = await request.json();`",
  ),
  compiled(
    "reads the params of a request in a route",
    inGuests("route, ", 'export const show = route("GET /show/:id", (request) => new Response(request.params.id));'),
    `${GUESTS}:15:70`,
    "A route receives a Request, which has no params",
    "The parameters of the path are in its second argument",
  ),
  compiled(
    "sends an object with fetch",
    [
      {
        file: VIEW,
        from: "book.name = book.error",
        to: 'await fetch("/x", { method: "POST", body: { a: 1 } });\n      book.name = book.error',
      },
    ],
    `${VIEW}:11:49`,
    'fetch() sends no objects: this object is sent as the text "[object Object]"',
    "Write `body: JSON.stringify({ a: 1 })`",
  ),
];

/** A warning about a line of the view, which the terminal and the console of the browser show. */
const inBrowser = (...parts: Parameters<typeof row>): Mistake => ({
  ...row(...parts),
  places: ["terminal", "console"],
});

const browser: readonly Mistake[] = [
  {
    ...inBrowser(
      "catches the error of a call with too many arguments",
      [{ file: VIEW, from: "await sign(book.name)", to: "await sign(...([book.name, 2, 3] as never as [string]))" }],
      `${VIEW}:10:27`,
      "received 3 arguments",
      "sign(name)",
    ),
    act: sign,
  },
  {
    ...inBrowser(
      "catches the error of an argument that cannot be sent",
      [{ file: VIEW, from: "await sign(book.name)", to: "await sign(new Map() as never)" }],
      `${VIEW}:10:27`,
      "a Map cannot be sent",
      "Object.fromEntries",
    ),
    act: sign,
  },
  {
    ...inBrowser(
      "catches the error of a promise that is assigned to a state",
      [{ file: VIEW, from: "await sign(book.name)", to: "sign(book.name) as never" }],
      `${VIEW}:10:12`,
      'A promise was assigned to "guests" of a state',
      "Await it: `state.guests = await load()`",
    ),
    act: sign,
  },
  {
    ...inBrowser(
      "joins a text with a call that is not awaited",
      [{ file: VIEW, from: "book.guests = await sign(book.name)", to: 'book.error = "Signed: " + sign(book.name)' }],
      `${VIEW}:10`,
      "sign: the call is used as a text, but its result has not arrived yet",
      "Await it: await sign(…).",
    ),
    act: sign,
  },
  inBrowser(
    "misspells a property of a style",
    [inMarkup('<p style={{ colour: "red" }}>x</p>')],
    `${VIEW}:22`,
    'The style of this <p> has the unknown property "colour", which browsers ignore',
    'Did you mean "color"?',
  ),
];

export const mistakes: readonly Mistake[] = [...environment, ...queries, ...files, ...markup, ...calls, ...browser];
