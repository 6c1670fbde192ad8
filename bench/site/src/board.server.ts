import { channel, type int, publish, query, server } from "tsweb";

const rows = Array.from({ length: 100 }, (_, id) => ({
  ...{ id, title: `The title of row ${id}`, author: `user ${id % 7}`, text: "What somebody wrote. ".repeat(3) },
  changed: 0,
}));

/** A list, of which only what has changed is sent. */
export const board_rows = query({ on: ["board"] }, () => rows);

/** The same rows in an object, which is always sent as a whole. */
export const board_page = query({ on: ["board"] }, () => ({ rows }));

export const open_rows = server(() => board_rows.live());
export const open_page = server(() => board_page.live());

/** What pages subscribe to that ask again, and what they call then. */
export const open_channel = server(() => channel("board"));
export const read_rows = server(() => rows);

/** Changes one row, and publishes it. */
export const change_row = server(async (count: int) => {
  const row = rows[count % rows.length];
  if (row) row.changed = count;
  await publish("board");
});
