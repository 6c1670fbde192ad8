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
  readonly title: string;
  readonly author: Member & { readonly id: string };
}
