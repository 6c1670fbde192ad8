export { type RedisConnection, redisAt } from "./connection.ts";
export { RedisListener } from "./listener.ts";
export { defineScript, runScript, type Script, type ScriptInput } from "./script.ts";
