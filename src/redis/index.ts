export { type RedisConnection, redisAt } from "./connection.ts";
export { defineScript, runScript } from "./script.ts";
