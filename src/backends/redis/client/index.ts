export {
  defineScript,
  infoOf,
  openRedisConnection,
  type RedisConnection,
  runScript,
  type Script,
  type ScriptInput,
} from "./connection.ts";
export { isReplyError } from "./lazy-client.ts";
export { RedisSubscriber } from "./subscriber.ts";
