import { type Card, COLUMNS } from "./model.ts";

const ROW_HEIGHT = 28;
/** The width of the names. The bars have the rest. */
const NAMES_PERCENT = 24;

/**
 * The cards of each member by column, as bars. It is plain SVG: the server draws it too, it changes with the board, and the
 * page loads no library for it.
 */
export function Chart({ cards }: { readonly cards: readonly Card[] }) {
  const rows = countCards(cards);
  if (rows.length === 0) return null;
  const most = Math.max(...rows.map(({ counts }) => sum(counts)));
  const percent = (count: number) => (count / most) * (100 - NAMES_PERCENT);
  return (
    <figure class="chart">
      <figcaption>
        Cards by member
        {COLUMNS.map(({ id, title }) => (
          <span key={id} class={`key ${id}`}>
            {title}
          </span>
        ))}
      </figcaption>
      <svg width="100%" height={rows.length * ROW_HEIGHT} role="img" aria-label={rows.map(describe).join("; ")}>
        {rows.map(({ id, name, counts }, row) => (
          <g key={id}>
            <text x="0" y={row * ROW_HEIGHT + 19}>
              {shorten(name)}
            </text>
            {COLUMNS.map((column, index) => (
              <rect
                key={column.id}
                class={column.id}
                x={`${NAMES_PERCENT + percent(sum(counts.slice(0, index)))}%`}
                y={row * ROW_HEIGHT + 4}
                width={`${percent(counts[index] ?? 0)}%`}
                height={ROW_HEIGHT - 8}
              />
            ))}
          </g>
        ))}
      </svg>
    </figure>
  );
}

interface Row {
  readonly id: string;
  readonly name: string;
  /** The number of cards in each column. */
  readonly counts: readonly number[];
}

function countCards(cards: readonly Card[]): Row[] {
  const authors = new Map(cards.map(({ author }) => [author.id, author]));
  return [...authors.values()].map(({ id, name }) => ({
    id,
    name,
    counts: COLUMNS.map((column) => cards.filter((card) => card.author.id === id && card.column === column.id).length),
  }));
}

/** The text of a row for screen readers: "Ada: 2 to do, 1 doing, 0 done". */
function describe({ name, counts }: Row): string {
  return `${name}: ${COLUMNS.map(({ title }, index) => `${counts[index]} ${title.toLowerCase()}`).join(", ")}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function shorten(name: string): string {
  return name.length > 12 ? `${name.slice(0, 11)}…` : name;
}
