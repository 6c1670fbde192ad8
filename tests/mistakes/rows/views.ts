import { expect } from "vitest";
import type { Edit, Mistake } from "../mistake.ts";
import { VIEW, variantRows, viewVariants } from "./guest-book-edits.ts";

const STATE = 'const book = state({ guests, name: "", error: "" });';
const ALERT = '<p role="alert">{book.error}</p>';
const RENDER_FIELD = "Render one of its fields (name), for example `{user.name}`";
const ASSIGN_LATER = "Assign it in an event handler or in on_mount";

/** Replaces the call of state() in the view. */
const state = (to: string): Edit => ({ file: VIEW, from: STATE, to });

/** Replaces the element with the error in the view. */
const alert = (to: string): Edit => ({ file: VIEW, from: ALERT, to });

/** A button of the view. */
const button = (handler: string) => `<button type="button" onClick={${handler}}>Try</button>`;

/** Clicks the button until there is an effect: before hydration there is none. */
const click: Mistake["act"] = async (page) => {
  const clickInPage = () => {
    document.querySelector<HTMLElement>("button[type=button]")?.click();
    return document.querySelector("vite-error-overlay") !== null;
  };
  await expect.poll(() => page.evaluate(clickInPage)).toBe(true);
};

/** A row with an expression for the view. */
interface ViewRow extends Pick<Mistake, "mistake" | "says" | "fix"> {
  readonly expression: string;
}

const expressionsOf = (rows: readonly ViewRow[]) => rows.map(({ expression }) => expression);

/** What cannot be rendered, in place of the element with the error. */
const rendered: readonly ViewRow[] = [
  {
    mistake: "renders an object in a view",
    expression: '<p role="alert">{{ name: "Ada" } as never}</p>',
    says: "An object (Object) cannot be rendered in <p>",
    fix: RENDER_FIELD,
  },
  {
    mistake: "renders a date in a view",
    expression: '<p role="alert">{new Date(0) as never}</p>',
    says: "An object (Date) cannot be rendered in <p>",
    fix: "for example `{date.toISOString()}`",
  },
  {
    mistake: "renders a state itself",
    expression: '<p role="alert">{book as never}</p>',
    says: "An object (Object) cannot be rendered in <p>",
    fix: "Render one of its fields (guests, name, error), for example `{user.guests}`",
  },
  {
    mistake: "renders a promise in a view",
    expression: '<p role="alert">{Promise.resolve("") as never}</p>',
    says: "A promise cannot be rendered in <p>",
    fix: "In a view, call the server function in an event handler or in on_mount",
  },
];

/** Expressions in the body of the view, after its state. */
const inBody: readonly (ViewRow & Pick<Mistake, "places">)[] = [
  {
    mistake: "passes a number to state()",
    expression: "state(0 as never)",
    places: ["page", "terminal"],
    says: "state() takes an object, and received 0",
    fix: "`const counter = state({ count: 0 })`",
  },
  {
    mistake: "passes a function to state(), as to useState()",
    expression: "state(() => ({ count: 0 }))",
    places: ["page", "terminal"],
    says: "state() takes an object, and received a function",
    fix: "`const counter = state({ count: 0 })`",
  },
  {
    mistake: "assigns to a state while rendering",
    expression: '(book.name += "!")',
    places: ["page"],
    says: 'changes "name" of a state, so the rendering would never end',
    fix: ASSIGN_LATER,
  },
];

/** The handlers of a button. */
const handlers: readonly ViewRow[] = [
  {
    mistake: "assigns a call to a state without awaiting it",
    expression: '() => void (book.guests = sign("Ada") as never)',
    says: 'A promise was assigned to "guests" of a state, in place of an array',
    fix: "Await it: `state.guests = await load()`",
  },
  {
    mistake: "stores an instance of a class in a state",
    expression: '() => Object.assign(book, { name: new (class Name { first = "Ada" })() })',
    says: "state() cannot observe changes in an instance of Name",
    fix: "Store a plain object or an array instead",
  },
  {
    mistake: "calls state() in an event handler",
    expression: "() => state({ n: 0 })",
    says: "Call state() inside a view, at the top of its function",
    fix: "not in an event handler",
  },
];

export const mistakes: readonly Mistake[] = [
  ...variantRows(
    rendered,
    viewVariants(expressionsOf(rendered), (expression) => alert(`{${expression}}`)),
  ).map((row): Mistake => ({ ...row, places: ["page"], at: `${VIEW}:21` })),
  ...variantRows(
    inBody,
    viewVariants(expressionsOf(inBody), (expression) => state(`${STATE} void (${expression});`)),
  ).map((row): Mistake => ({ ...row, at: `${VIEW}:5` })),
  ...variantRows(
    handlers,
    viewVariants(expressionsOf(handlers).map(button), (expression) => alert(`{${expression}}`)),
  ).map((row): Mistake => ({ ...row, act: click, places: ["overlay", "terminal"], at: `${VIEW}:21` })),
  {
    mistake: "renders an object of a state after a click",
    edits: [
      state('const book = state({ guests, name: "", error: "", picked: null as unknown });'),
      alert(
        '<b>{book.picked as string}</b><button type="button" onClick={() => (book.picked = { name: "Ada" })}>Try</button>',
      ),
    ],
    act: click,
    places: ["overlay", "terminal"],
    at: `${VIEW}:21`,
    says: "An object (Object) cannot be rendered in <b> of GuestBook",
    fix: RENDER_FIELD,
  },
  {
    mistake: "passes a number to state(), in the types",
    edits: [state(`${STATE} state(0);`)],
    places: ["types"],
    at: `${VIEW}:5`,
    says: "Argument of type 'number' is not assignable to parameter of type 'object'",
    fix: "'object'",
  },
  {
    mistake: "changes an array of a state while rendering, after a click",
    edits: [
      state(`${STATE} if (book.error) book.guests.reverse();`),
      alert(button('() => Object.assign(book, { error: "x", guests: ["Ada", "Grace"] })')),
    ],
    act: click,
    places: ["overlay", "terminal"],
    at: `${VIEW}:5`,
    says: /Each rendering of GuestBook changes "guests\.\d" of a state/,
    fix: ASSIGN_LATER,
  },
  {
    mistake: "stores an element in a state with a ref that is a new function each time",
    edits: [
      state('const book = state({ guests, name: "", error: "", element: null as unknown });'),
      alert("<b ref={(element) => void (book.element = element)} />"),
    ],
    places: ["overlay", "terminal"],
    at: `${VIEW}:21`,
    says: 'Each rendering of GuestBook changes "element" of a state',
    fix: ASSIGN_LATER,
  },
  {
    mistake: "assigns a call to a state without awaiting it, in the types",
    edits: [{ file: VIEW, from: "await sign(book.name)", to: "sign(book.name)" }],
    places: ["types"],
    at: `${VIEW}:10`,
    says: "Type 'Call<string[]>'",
    fix: "'string[]'",
  },
  {
    mistake: "assigns to a copy of a field of a state",
    edits: [
      state(`${STATE} let { error } = book;`),
      alert('<p role="alert" onClick={() => { error = "" }}>{error}</p>'),
    ],
    places: ["build", "page", "terminal"],
    at: `${VIEW}:21`,
    says: "error is a copy, so that this assignment does not change the state",
    fix: "Write `book.error = …`",
  },
  {
    mistake: "replaces a state",
    edits: [
      state(STATE.replace("const", "let")),
      alert('<p role="alert" onClick={() => { book = { ...book, error: "" } }}>{book.error}</p>'),
    ],
    places: ["build", "page", "terminal"],
    at: `${VIEW}:21`,
    says: "book is replaced, which the view does not notice",
    fix: "`book.name = …`, or `Object.assign(book, { … })`",
  },
  {
    mistake: "writes a list without keys",
    edits: [
      { file: VIEW, from: "{book.guests.map(", to: '{[...book.guests, "Ada", "Grace"].map(' },
      { file: VIEW, from: "<li key={guest}>", to: "<li>" },
    ],
    places: ["console", "terminal"],
    at: `${VIEW}:24`,
    says: "The <li> elements of a list in GuestBook have no key",
    fix: "Give each the key of its data: <li key={item.id}>",
  },
  {
    mistake: "writes React's onChange for a text field",
    edits: [{ file: VIEW, from: "onInput={", to: "onChange={" }],
    places: ["console", "terminal"],
    at: `${VIEW}:19`,
    says: "The <input> has `value` and `onChange`",
    fix: "Use `onInput`",
  },
  {
    mistake: "forgets the return of a view",
    edits: [{ file: VIEW, from: "return (\n    <form", to: "(\n    <form" }],
    places: ["build", "page", "terminal"],
    at: `${VIEW}:18`,
    says: "This markup is not used, because its function does not return it",
    fix: "Write `return` before it, or leave out the braces of the arrow function",
  },
  {
    mistake: "passes a text as dangerouslySetInnerHTML",
    edits: [alert('<p dangerouslySetInnerHTML={"<b>x</b>" as never} />')],
    places: ["page", "terminal"],
    at: `${VIEW}:21:7`,
    says: "The attribute dangerouslySetInnerHTML of <p> is a value of the type string",
    fix: "`dangerouslySetInnerHTML={{ __html: html }}`",
  },
  {
    mistake: "assigns to a state in place of an event handler that does so",
    edits: [alert('<b onClick={(book.error = "clicked") as never}>{book.error}</b>')],
    places: ["page"],
    at: `${VIEW}:21`,
    says: /onClick of <b> is a text, not a function|is assigned/,
    fix: "=>",
  },
  {
    mistake: "calls the handler of an event, after a click",
    edits: [
      state(`${STATE} const save = async () => {};`),
      alert(
        '<button type="button" onClick={() => (book.error = "x")}>x</button>{book.error && <b onClick={save() as never} />}',
      ),
    ],
    act: click,
    places: ["overlay", "terminal"],
    at: `${VIEW}:21`,
    says: "The attribute onClick of <b> is a promise. It takes a function",
    fix: "Write `onClick={() => save()}`, or `onClick={save}`",
  },
  {
    mistake: "calls the function of on_mount",
    edits: [
      { file: VIEW, from: "import { RPCError,", to: "import { on_mount, RPCError," },
      state(`${STATE}\n  on_mount(Promise.resolve() as never);`),
    ],
    places: ["page", "terminal"],
    at: `${VIEW}:6:3`,
    says: "on_mount() takes a function, and received a promise",
    fix: "Pass the function without calling it: `on_mount(start)`",
  },
  {
    mistake: "returns a cleanup from an async on_mount",
    edits: [
      { file: VIEW, from: "import { RPCError,", to: "import { on_mount, RPCError," },
      state(`${STATE}\n  on_mount(async () => () => {});`),
    ],
    places: ["console", "terminal"],
    at: `${VIEW}:6:3`,
    says: "The function of on_mount is async and returns a function, which is never called",
    fix: "Stop what was started in a function that the component passes to on_unmount",
  },
  {
    mistake: "renders the URL of an image as a component",
    edits: [state(`${STATE} const Pen = "/pen.svg" as any;`), alert("<Pen />")],
    places: ["page", "terminal"],
    at: `${VIEW}:21:7`,
    says: 'The component of this element is the URL "/',
    fix: 'Write `<img src={url} alt="" />` with the imported name as `src`',
  },
  {
    mistake: "starts a timer in the body of a view",
    edits: [state(`${STATE}\n  setInterval(() => (book.error = ""), 1000);`)],
    places: ["build", "page", "terminal"],
    at: `${VIEW}:6`,
    says: "This timer is started at each rendering of GuestBook, also on the server, and is never stopped",
    fix: "Start it in on_mount: `on_mount(() => { const timer = setInterval(…); return () => clearInterval(timer); })`",
  },
  {
    mistake: "calls a server function in the body of a view",
    edits: [state(`${STATE}\n  sign("Ada").then((all) => (book.guests = all));`)],
    places: ["build", "page", "terminal"],
    at: `${VIEW}:6`,
    says: "This server function is called at each rendering of GuestBook",
    fix: "or call it in on_mount or in an event handler",
  },
  {
    mistake: "writes an async view",
    edits: [{ file: VIEW, from: "view(({ guests }", to: "view(async ({ guests }" }],
    places: ["page"],
    at: `${VIEW}:4`,
    says: 'The view "GuestBook" is async, but rendering is synchronous',
    fix: "Load its data in the page function",
  },
];
