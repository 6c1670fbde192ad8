/** The users, in the database. */
import { DrizzleQueryError, eq } from "drizzle-orm";
import { once, session } from "tsweb";
import { db } from "../database/database.server.ts";
import { users } from "../database/schema.server.ts";

export type User = typeof users.$inferSelect;

export async function findByEmail(email: string): Promise<User | undefined> {
  const [user] = await db.select().from(users).where(eq(users.email, email));
  return user;
}

/** Stores a new user. Returns `undefined` if the address is registered, also if two requests register it at once. */
export async function add(user: Pick<User, "email" | "name" | "password">): Promise<User | undefined> {
  try {
    const [added] = await db.insert(users).values(user).onConflictDoNothing().returning();
    return added;
  } catch (error) {
    // The message of Drizzle's error has the values of the query, and errors are logged: the hash must not be in the log.
    const cause = error instanceof DrizzleQueryError ? error.cause : error;
    throw new Error("The user could not be stored", { cause });
  }
}

export async function setAvatar(id: string, avatar: string): Promise<void> {
  await db.update(users).set({ avatar }).where(eq(users.id, id));
}

/** The signed-in user. The layout and the pages ask for it: `once` makes it one query per request. */
export const currentUser = once(async () => {
  const signedIn = session.user();
  if (!signedIn) return;
  const [user] = await db.select().from(users).where(eq(users.id, signedIn.sub));
  return user;
});
