/** The database: SQLite in a file, or the libSQL server in `BOARD_DATABASE_URL`. */
import { createClient } from "@libsql/client";
import { drizzle } from "drizzle-orm/libsql";
import { migrate } from "drizzle-orm/libsql/migrator";
import { project_path } from "tsweb";
import { dataFolder } from "./data-folder.server.ts";

const client = createClient({
  url: process.env.BOARD_DATABASE_URL || `file:${dataFolder}/board.db`,
  timeout: 5_000, // another process may hold the lock of the file
});

export const db = drizzle({ client });

// The modules that import this one wait here: no request is accepted before the tables exist. The migrations are files
// of the project; `include` in package.json makes them a part of the build.
await migrate(db, { migrationsFolder: project_path("drizzle") });
