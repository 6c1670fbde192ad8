import { sign } from "../acts.ts";
import type { Edit, Mistake } from "../mistake.ts";
import { GUESTS, PAGES, VIEW, withQuery } from "./guest-book-edits.ts";

interface LiveGuestBook {
  /** What the function does after it has written the name, in place of publishing it. */
  readonly publishes?: string;
  /** The call in the event handler of the view. */
  readonly call?: string;
}

/** Shows the names by a live query. The function that signs is in line 11 of its module. */
function liveGuestBook({ publishes = "", call = "await sign(book.name);" }: LiveGuestBook): Edit[] {
  return [
    ...withQuery('query({ on: ["guests"] }, () => everyone())'),
    { file: GUESTS, from: "  return everyone();", to: `  ${publishes}` },
    { file: PAGES, from: "{ everyone }", to: "{ guests }" },
    { file: PAGES, from: "guests={await everyone()}", to: "guests={await guests.live()}" },
    {
      file: VIEW,
      from: "{ RPCError, state, view }",
      to: "{ live, type LiveHandle, optimistic, RPCError, state, view }",
    },
    { file: VIEW, from: "{ guests: string[] }", to: "{ guests: LiveHandle<string[]> }" },
    {
      file: VIEW,
      from: "const book = state({ guests, ",
      to: "void optimistic;\n  const names = live(guests);\n  const book = state({ ",
    },
    { file: VIEW, from: "book.guests = await sign(book.name);", to: call },
    { file: VIEW, from: "book.guests.map", to: "names.value.map" },
  ];
}

/** Mistakes with live queries; the effect of most is that pages do not show a change. */
export const mistakes: readonly Mistake[] = [
  {
    mistake: "leaves out the type of a default of a query, before a build",
    edits: [...withQuery('query({ on: (limit) => ["guests" + limit] }, (limit = 20) => limit)')],
    places: ["types"],
    at: `${GUESTS}:4`,
    says: "is not assignable to parameter of type 'NotSendable<\"query() takes options and a function.",
    fix: "Each parameter of the function needs a type, also one with a default: (limit: int = 20).",
  },
  {
    mistake: "forgets to publish a change that a live query shows",
    edits: liveGuestBook({}),
    act: (page) => sign(page, "Grace"),
    places: ["terminal"],
    at: `${GUESTS}:11`,
    says: 'After a call of sign, the live query guests (src/guests.server.ts:4) returns another value than pages show, but nothing was published to its channel "guests"',
    fix: '`await publish("guests")`',
  },
  {
    mistake: "misspells the channel of a live query",
    edits: liveGuestBook({ publishes: 'await publish("guest");' }),
    act: (page) => sign(page, "Barbara"),
    places: ["terminal"],
    at: `${GUESTS}:11`,
    says: 'It has published to "guest": is that misspelled?',
    fix: '`await publish("guests")`',
  },
  {
    mistake: "returns a new list to optimistic",
    edits: liveGuestBook({
      publishes: 'await publish("guests");',
      call: "await optimistic(names, (list) => [...list, book.name], () => sign(book.name));",
    }),
    act: (page) => sign(page, "Margaret"),
    places: ["terminal", "console"],
    at: `${VIEW}:12`,
    says: "has returned a new list, and has not changed the one that it received",
    fix: "Change the list that it receives: `(cards) => cards.push(card)`",
  },
  {
    mistake: "adds to the value of a live query",
    edits: [
      ...liveGuestBook({ publishes: 'await publish("guests");' }),
      { file: VIEW, from: "event.preventDefault();", to: "event.preventDefault();\n    names.value.push(book.name);" },
    ],
    act: (page) => sign(page, "Katherine"),
    places: ["overlay", "terminal"],
    at: `${VIEW}:11`,
    says: /Cannot add property \d+, object is not extensible/,
    fix: "show a change with `optimistic(list, (copy) => …, () => …)`",
  },
];
