import {
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  MouseSensor,
  TouchSensor,
  useSensor,
  useSensors,
} from "@dnd-kit/core";
import {
  type LiveHandle,
  live,
  on_mount,
  optimistic,
  type Presence,
  present,
  RPCError,
  state,
  view,
} from "tsweb/browser";
import { Avatar } from "../users/avatar.tsx";
import { move_card } from "./cards.server.ts";
import { Chart } from "./chart.tsx";
import { Column } from "./column.tsx";
import { announcements, columnUnder, instructions, nextColumn } from "./drag.ts";
import { type Card, COLUMNS, type Member } from "./model.ts";

interface BoardProps {
  readonly id: string;
  readonly cards: LiveHandle<Card[]>;
  readonly here: Presence<Member>;
}

/**
 * The board. Its forms work before the script has loaded and without it; drag and drop and the changes of others come
 * with the script.
 */
export const Board = view(({ id, cards, here }: BoardProps) => {
  const members = present(here);
  const list = live(cards);
  const board = state({ isLive: false, error: "" });

  on_mount(() => {
    board.isLive = true;
  });

  const drop = async (event: DragEndEvent) => {
    const card = list.value.find((card) => card.id === event.active.id);
    const column = columnUnder(event)?.id;
    if (!card || !column || column === card.column) return;
    board.error = "";
    const move = (cards: Card[]) => {
      const index = cards.findIndex(({ id }) => id === card.id);
      if (index >= 0) cards.push({ ...card, ...cards.splice(index, 1)[0], column }); // the last one of its column
    };
    try {
      await optimistic(list, move, () => move_card(card.id, column));
    } catch (error) {
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
      accessibility={{ announcements: announcements(() => list.value), screenReaderInstructions: instructions }}
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
            cards={list.value.filter((card) => card.column === column.id)}
            isDraggable={board.isLive}
          />
        ))}
      </div>
      <Chart cards={list.value} />
    </DndContext>
  );
});
