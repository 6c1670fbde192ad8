/** What the server and the browser know about boards. */

export type ColumnId = "todo" | "doing" | "done";

export const COLUMNS: readonly { readonly id: ColumnId; readonly title: string }[] = [
  { id: "todo", title: "To do" },
  { id: "doing", title: "Doing" },
  { id: "done", title: "Done" },
];

/** What the others see of a member who has the board open. */
export interface Member {
  readonly name: string;
  readonly avatar: string | null;
}

export interface Card {
  readonly id: string;
  readonly column: ColumnId;
  readonly position: number;
  readonly title: string;
  readonly author: Member & { readonly id: string };
}

/** The messages of the channel of a board. */
export type BoardChange =
  | { readonly type: "changed"; readonly card: Card }
  | { readonly type: "removed"; readonly id: string };

/** Returns the cards after a change. A change that the cards contain already, or that comes twice, is harmless. */
export function apply(cards: readonly Card[], change: BoardChange): Card[] {
  const id = change.type === "changed" ? change.card.id : change.id;
  const others = cards.filter((card) => card.id !== id);
  if (change.type === "removed") return others;
  return [...others, change.card].sort((a, b) => a.position - b.position);
}
