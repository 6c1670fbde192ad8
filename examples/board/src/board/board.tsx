import {
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  MouseSensor,
  TouchSensor,
  useSensor,
  useSensors,
} from "@dnd-kit/core";
import { type Feed, on_mount, type Presence, present, RPCError, state, subscribe, view } from "tsweb/browser";
import { Avatar } from "../users/avatar.tsx";
import { move_card } from "./cards.server.ts";
import { Chart } from "./chart.tsx";
import { Column } from "./column.tsx";
import { announcements, columnUnder, instructions, nextColumn } from "./drag.ts";
import { apply, type BoardChange, type Card, COLUMNS, type Member } from "./model.ts";

interface BoardProps {
  readonly id: string;
  readonly cards: Card[];
  readonly feed: Feed<BoardChange>;
  readonly here: Presence<Member>;
}

/**
 * The board. Its forms work before the script has loaded and without it; drag and drop and the changes of others come
 * with the script.
 */
export const Board = view(({ id, cards, feed, here }: BoardProps) => {
  const members = present(here);
  const board = state({ cards, isLive: false, error: "" });

  on_mount(() => {
    board.isLive = true;
    // Every page, also this one, shows a change when it is published. So a function returns nothing.
    return subscribe(feed, (change) => {
      board.cards = apply(board.cards, change);
    });
  });

  const drop = async (event: DragEndEvent) => {
    const card = board.cards.find((card) => card.id === event.active.id);
    const column = columnUnder(event)?.id;
    if (!card || !column || column === card.column) return;
    board.error = "";
    // Shown at once. The published change has the final position.
    board.cards = apply(board.cards, { type: "changed", card: { ...card, column, position: Number.MAX_SAFE_INTEGER } });
    try {
      await move_card(card.id, column);
    } catch (error) {
      board.cards = apply(board.cards, { type: "changed", card });
      board.error = error instanceof RPCError ? error.message : "The card was not moved. Are you offline?";
    }
  };

  const sensors = useSensors(
    useSensor(MouseSensor, { activationConstraint: { distance: 6 } }), // a click on a button is no drag
    useSensor(TouchSensor, { activationConstraint: { delay: 200, tolerance: 8 } }), // neither is scrolling
    useSensor(KeyboardSensor, { coordinateGetter: nextColumn }),
  );

  return (
    <DndContext
      id="board"
      sensors={sensors}
      onDragEnd={drop}
      accessibility={{ announcements: announcements(() => board.cards), screenReaderInstructions: instructions }}
    >
      <p role="alert" class="wrong">
        {board.error}
      </p>
      <ul class="here" aria-label="Members who have this board open">
        {members.list.map(({ id, data: { name, avatar } }) => (
          <li key={id} title={name}>
            <Avatar name={name} avatar={avatar} />
            <span class="visually-hidden">{name}</span>
          </li>
        ))}
      </ul>
      <div class="columns">
        {COLUMNS.map((column) => (
          <Column
            key={column.id}
            board={id}
            column={column}
            cards={board.cards.filter((card) => card.column === column.id)}
            isDraggable={board.isLive}
          />
        ))}
      </div>
      <Chart cards={board.cards} />
    </DndContext>
  );
});
