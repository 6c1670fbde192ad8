import { useDraggable } from "@dnd-kit/core";
import { form } from "tsweb/browser";
import { Avatar } from "../users/avatar.tsx";
import { move_card, remove_card } from "./cards.server.ts";
import { type Card, COLUMNS } from "./model.ts";

/** A card: draggable, and with a form that moves and removes it, which needs no script. */
export function CardItem({ card, isDraggable }: { readonly card: Card; readonly isDraggable: boolean }) {
  const drag = useDraggable({ id: card.id, disabled: !isDraggable });
  const moving = form(move_card, { key: card.id });
  const attributes = { ...drag.attributes, role: undefined }; // a button needs no role
  const index = COLUMNS.findIndex(({ id }) => id === card.column);
  const style = drag.transform ? `transform: translate(${drag.transform.x}px, ${drag.transform.y}px)` : undefined;
  return (
    <li ref={drag.setNodeRef} style={style} class={drag.isDragging ? "card dragging" : "card"} {...drag.listeners}>
      <p class="title">{card.title}</p>
      <p class="author">
        <Avatar name={card.author.name} avatar={card.author.avatar} /> {card.author.name}
      </p>
      <form action={moving}>
        <input type="hidden" name="id" value={card.id} />
        <MoveButton to={COLUMNS[index - 1]} label="←" card={card} />
        <MoveButton to={COLUMNS[index + 1]} label="→" card={card} />
        {isDraggable && (
          // For the keyboard; mouse and finger drag the whole card.
          <button type="button" ref={drag.setActivatorNodeRef} {...attributes} aria-label={`Drag “${card.title}”`}>
            ⠿
          </button>
        )}
        <button type="submit" formAction={remove_card} aria-label={`Remove “${card.title}”`} class="remove">
          ×
        </button>
      </form>
      {moving.error && (
        <p role="alert" class="wrong">
          {moving.error.message}
        </p>
      )}
    </li>
  );
}

/** A button of the form: its name and value are the parameter `column` of `move_card`. */
function MoveButton({ to, label, card }: { to: (typeof COLUMNS)[number] | undefined; label: string; card: Card }) {
  if (!to) return null;
  return (
    <button type="submit" name="column" value={to.id} aria-label={`Move “${card.title}” to ${to.title}`}>
      {label}
    </button>
  );
}
