import { OUTCOME_MS, type OutcomeStore } from "../bus/index.ts";
import { defineScript, type RunOnConnection, runScript } from "./client/index.ts";

/** KEYS: the record. ARGV: the text, how long it is kept in milliseconds. Returns the text that is stored; nil if there was none. */
const CLAIM = defineScript(`
local stored = redis.call('GET', KEYS[1])
if stored then return stored end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return false
`);

const WRITE = defineScript(`return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`);

const REMOVE = defineScript(`return redis.call('DEL', KEYS[1])`);

/**
 * Returns the outcomes of idempotent functions in Redis: a key for each, which expires.
 *
 * @param keyOf returns the name of a record's key
 */
export function redisOutcomes(keyOf: (record: string) => string, run: RunOnConnection): OutcomeStore {
  const runFor = (script: typeof CLAIM, key: string, ...args: readonly string[]) =>
    run((connection) => runScript(connection, script, { keys: [keyOf(key)], args }));
  return {
    async claim(key, text) {
      const stored = await runFor(CLAIM, key, text, String(OUTCOME_MS));
      return typeof stored === "string" ? stored : null;
    },
    async write(key, text) {
      await runFor(WRITE, key, text, String(OUTCOME_MS));
    },
    async remove(key) {
      await runFor(REMOVE, key);
    },
  };
}
