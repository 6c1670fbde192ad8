/** How long a record is kept, in milliseconds: 10 minutes. */
export const OUTCOME_MS = 10 * 60 * 1000;

/**
 * Where processes keep what idempotent functions led to, for {@link OUTCOME_MS} each. Keys are texts of base64url.
 *
 * @see docs/protocol.md 15.8
 */
export interface OutcomeStore {
  /**
   * Stores a text under a key without one, and resolves with `null`; otherwise with the text that is stored. Of several calls for
   * one key at once, in any processes, exactly one stores its text. After a lost reply, it may resolve with the text of the
   * caller itself.
   *
   * @throws Error if the server did not respond in time
   */
  claim(key: string, text: string): Promise<string | null>;
  /** Replaces the text of a key. */
  write(key: string, text: string): Promise<void>;
  /** Removes a key. */
  remove(key: string): Promise<void>;
}
