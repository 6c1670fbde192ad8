/** The tables. After a change, run `npm run migration`, which adds a file to `drizzle/`. */
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

const id = () =>
  text()
    .primaryKey()
    .$defaultFn(() => crypto.randomUUID());

export const users = sqliteTable("users", {
  id: id(),
  /** In lower case. */
  email: text().notNull().unique(),
  name: text().notNull(),
  /** The hash of the password. */
  password: text().notNull(),
  /** The name of a file in the folder of avatars. */
  avatar: text(),
});

export const boards = sqliteTable("boards", { id: id(), name: text().notNull() });

export const cards = sqliteTable(
  "cards",
  {
    id: id(),
    board: text()
      .notNull()
      .references(() => boards.id),
    column: text({ enum: ["todo", "doing", "done"] }).notNull(),
    /** The order in the column. A card that is added or moved gets the highest number of all. */
    position: integer().notNull(),
    title: text().notNull(),
    author: text()
      .notNull()
      .references(() => users.id),
  },
  (table) => [index("cards_of_board").on(table.board, table.position)],
);
