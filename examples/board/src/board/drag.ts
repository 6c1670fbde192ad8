/** Drag and drop with the keyboard, and what screen readers say of it. */
import type {
  Announcements,
  KeyboardCoordinateGetter,
  ScreenReaderInstructions,
  UniqueIdentifier,
} from "@dnd-kit/core";
import { type Card, COLUMNS } from "./model.ts";

/** Moves a card that is dragged with the keyboard to the column beside it. Other keys move nothing. */
export const nextColumn: KeyboardCoordinateGetter = (event, { context: { over, active, droppableRects } }) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.code];
  if (!step || !active) return;
  event.preventDefault();
  const current = COLUMNS.findIndex(({ id }) => id === over?.id);
  const rect = droppableRects.get(COLUMNS[current + step]?.id ?? "");
  return rect && { x: rect.left + 12, y: rect.top + 48 };
};

export const instructions: ScreenReaderInstructions = {
  draggable:
    "Press Space to pick up the card, the left and right arrows to choose a column, Space to drop, Escape to cancel.",
};

/** The announcements for the cards of a board. The defaults of dnd-kit would name cards by their ids. */
export function announcements(cards: readonly Card[]): Announcements {
  const card = (id: UniqueIdentifier) => cards.find((card) => card.id === id)?.title ?? "The card";
  const column = (id: UniqueIdentifier | undefined) => COLUMNS.find((column) => column.id === id)?.title;
  return {
    onDragStart: ({ active }) => `Picked up ${card(active.id)}.`,
    onDragOver: ({ active, over }) => (over ? `${card(active.id)} is over ${column(over.id)}.` : undefined),
    onDragEnd: ({ active, over }) =>
      over ? `${card(active.id)} is in ${column(over.id)}.` : `${card(active.id)} was not moved.`,
    onDragCancel: ({ active }) => `${card(active.id)} was not moved.`,
  };
}
