/** Drag and drop with the keyboard, and what screen readers say of it. */
import {
  type Announcements,
  type Collision,
  getFirstCollision,
  type KeyboardCoordinateGetter,
  type ScreenReaderInstructions,
  type UniqueIdentifier,
} from "@dnd-kit/core";
import { type Card, COLUMNS } from "./model.ts";

/** Returns the column under the dragged card. The `over` of dnd-kit is one frame late, and keys may be faster. */
export function columnUnder({ collisions }: { readonly collisions: Collision[] | null }) {
  return COLUMNS.find(({ id }) => id === getFirstCollision(collisions, "id"));
}

/** Moves a card that is dragged with the keyboard to the column beside it. Other keys move nothing. */
export const nextColumn: KeyboardCoordinateGetter = (event, { context }) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.code];
  const current = columnUnder(context);
  if (!step || !current) return;
  event.preventDefault();
  const rect = context.droppableRects.get(COLUMNS[COLUMNS.indexOf(current) + step]?.id ?? "");
  return rect && { x: rect.left + 12, y: rect.top + 48 };
};

export const instructions: ScreenReaderInstructions = {
  draggable:
    "Press Space to pick up the card, the left and right arrows to choose a column, Space to drop, Escape to cancel.",
};

/** The announcements for the cards of a board. The defaults of dnd-kit would name cards by their ids. */
export function announcements(cards: () => readonly Card[]): Announcements {
  const find = (id: UniqueIdentifier) => cards().find((card) => card.id === id);
  const title = (id: UniqueIdentifier) => find(id)?.title ?? "The card";
  const column = (id: UniqueIdentifier | undefined) => COLUMNS.find((column) => column.id === id)?.title;
  return {
    onDragStart: ({ active }) => `Picked up ${title(active.id)}.`,
    onDragOver: ({ active, over }) => (over ? `${title(active.id)} is over ${column(over.id)}.` : undefined),
    onDragEnd({ active }) {
      const card = find(active.id);
      return card ? `${card.title} is in ${column(card.column)}.` : "Somebody has removed this card.";
    },
    onDragCancel: ({ active }) => `${title(active.id)} was not moved.`,
  };
}
