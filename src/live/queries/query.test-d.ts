/** The types of queries, and of the handles that pages pass to views. */
import { assertType, type Equal } from "#test/type-equality";
import { view } from "../../browser/index.ts";
import { type LiveHandle, type Query, query } from "../../index.ts";

interface Card {
  readonly id: number;
  readonly at: Date;
}

const load = async (_board: string): Promise<Card[]> => [];

// `on` gets the types of the parameters, and may have as many, fewer or none of them.
const cards = query({ on: (board) => [`board:${board.toUpperCase()}`] }, (board: string) => load(board));
query({ on: (board, limit) => [`board:${board.at(0)}`, limit.toFixed()] }, (board: string, limit: number) => [
  board,
  limit,
]);
query({ on: (board) => [board.toUpperCase()] }, (board: string, limit: number) => [board, limit]);
query({ on: () => ["boards"] }, (board: string, limit: number) => [board, limit]);
query({ on: ["boards"] }, (board: string, limit: number) => [board, limit]);
query({ on: ["boards"] as const }, () => 1);
query({ on: ({ board }) => [board.toUpperCase()] }, ({ board }: { board: string; limit?: number }) => board);

// Optional parameters and annotated defaults may be undefined.
const optional = query({ on: (board, limit) => [board, String(limit?.toFixed())] }, (board: string, limit?: number) => [
  board,
  limit,
]);
const byDefault = query(
  { on: (board, limit) => [board, String(limit?.toFixed())] },
  (board: string, limit: number = 20) => [board, limit],
);
// @ts-expect-error it may be undefined
query({ on: (limit) => [limit.toFixed()] }, (limit?: number) => limit);
// @ts-expect-error `on` gets no type for a parameter with a default and without a type; the compile step rejects it wherever it is
query({ on: (limit) => [limit.toFixed()] }, (limit = 20) => limit);

// A query is called like its function.
assertType<Equal<Parameters<typeof cards>, [_board: string]>>();
assertType<Equal<ReturnType<typeof cards>, Promise<Card[]>>>();

// `live` takes the arguments of the function, and has the value as it arrives in the browser.
assertType<Equal<Awaited<ReturnType<typeof cards.live>>, LiveHandle<{ id: number; at: string }[]>>>();
assertType<Equal<Parameters<typeof cards.live>, [_board: string]>>();
void optional.live("1");
void optional.live("1", 5);
void optional.live("1", undefined);
void byDefault.live("1");
// @ts-expect-error the board is missing
void optional.live();
// @ts-expect-error the limit is a number
void optional.live("1", "5");
// @ts-expect-error there are two parameters
void optional.live("1", 5, 6);
const nothing = query({ on: ["a"] }, () => undefined);
assertType<Equal<Awaited<ReturnType<typeof nothing.live>>, LiveHandle<null>>>();

// The type of a query can be written.
assertType<Equal<typeof cards, Query<(_board: string) => Promise<Card[]>>>>();

// A handle is a prop of a view, and a result of a server function.
const Board = view((props: { cards: LiveHandle<{ id: number; at: string }[]> }) => props.cards.v);
void (async () => Board({ cards: await cards.live("1") }));
const Dates = view((props: { cards: LiveHandle<{ id: number; at: string }[]> | null }) => props.cards?.v);
// @ts-expect-error another value
void (async () => Dates({ cards: await nothing.live() }));

// @ts-expect-error the channels are missing
query({}, (board: string) => board);
// @ts-expect-error the options are missing
query((board: string) => board);
// @ts-expect-error it is no list
query({ on: (board) => board }, (board: string) => board);
// @ts-expect-error a promise is no list of channels
query({ on: async (board) => [board] }, (board: string) => board);
// @ts-expect-error the function has one parameter
query({ on: (board, limit) => [board, limit] }, (board: string) => board);
// @ts-expect-error the parameter is a number
query({ on: (board: string) => [board] }, (board: number) => board);
// @ts-expect-error there is no such option
query({ on: ["a"], rate: { calls: 1, seconds: 1 } }, (board: string) => board);
// @ts-expect-error a Date would arrive as a string
query({ on: ["a"] }, (at: Date) => at);
// @ts-expect-error a Response cannot be a value
query({ on: ["a"] }, async () => new Response());
// @ts-expect-error it is no function
query({ on: ["a"] }, 5);
