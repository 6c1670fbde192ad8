import { mkdirSync } from "node:fs";
import { resolve } from "node:path";

/** The folder of the database and the avatars. It is outside of `dist/`, which each build replaces. */
export const dataFolder = resolve(process.env.BOARD_DATA || ".data");

export const avatarFolder = `${dataFolder}/avatars`;

mkdirSync(avatarFolder, { recursive: true });
