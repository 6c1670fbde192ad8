import { useDroppable } from "@dnd-kit/core";
import { form } from "tsweb/browser";
import { CardItem } from "./card.tsx";
import { add_card } from "./cards.server.ts";
import type { Card, COLUMNS } from "./model.ts";

interface ColumnProps {
  readonly board: string;
  readonly column: (typeof COLUMNS)[number];
  readonly cards: readonly Card[];
  readonly isDraggable: boolean;
}

/** A column: its cards, and the form that adds one. */
export function Column({ board, column, cards, isDraggable }: ColumnProps) {
  const { setNodeRef, isOver } = useDroppable({ id: column.id });
  const adding = form(add_card, { key: column.id }); // each column has a form of this function
  return (
    <section ref={setNodeRef} class={isOver ? "column over" : "column"} data-column={column.id}>
      <h2>
        {column.title} <span class="count">{cards.length}</span>
      </h2>
      <ul aria-label={column.title}>
        {cards.map((card) => (
          <CardItem key={card.id} card={card} isDraggable={isDraggable} />
        ))}
      </ul>
      <form action={adding} class="add">
        <input type="hidden" name="board" value={board} />
        <input type="hidden" name="column" value={column.id} />
        <label>
          <span class="visually-hidden">New card in {column.title}</span>
          <input name="title" placeholder="New card" maxLength={200} required />
        </label>
        <button type="submit" disabled={adding.pending}>
          Add
        </button>
        <p role="alert" class="wrong">
          {adding.errors.title ?? adding.error?.message}
        </p>
      </form>
    </section>
  );
}
