export { defineScript, infoOf, type RunOnConnection, runScript, type Script, type ScriptInput } from "./commands.ts";
export {
  closeWhenSilent,
  commandError,
  isReplyError,
  type OpenedConnection,
  openRedisConnection,
  type RedisConnection,
} from "./connection.ts";
