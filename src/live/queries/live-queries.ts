import type { BodyProducer, BodySink, RequestContext } from "../../http/index.ts";
import type { QueryHub } from "./query-channels.ts";
import { readQueries } from "./query-connection.ts";
import { type QueryHost, receiverError, runForSession, runShared } from "./query-run.ts";
import { QueryRuns } from "./query-runs.ts";
import { QueryPoll, QueryStream } from "./query-stream.ts";

/** The queries of a live request, whose tokens were verified. */
export interface RequestedQueries {
  /** Adds them to an event stream. */
  openStream(stream: BodyProducer, sink: BodySink): QueryStream;
  /** @param onNews called when there may be a frame for the poll */
  openPoll(onNews: () => void): QueryPoll;
}

/** The queries of an application. */
export class LiveQueries {
  /** The runs of the queries. */
  readonly runs: QueryRuns;

  /** @param hub returns the subscriptions of the application */
  constructor(host: QueryHost, hub: () => QueryHub) {
    this.runs = new QueryRuns({
      host,
      hub,
      runner: {
        run: (call, session) => (session === undefined ? runShared(call, host) : runForSession(call, host, session)),
        describe: (cause, call) => receiverError(cause, call, host),
      },
    });
  }

  /**
   * Verifies the tokens of queries of a live request.
   *
   * @returns `null` without any
   * @throws RequestError 403 for a token that this application has not issued
   */
  read(tokens: readonly string[], context: RequestContext): RequestedQueries | null {
    const input = readQueries(tokens, context, this.runs);
    return (
      input && {
        openStream: (stream, sink) => new QueryStream(stream, sink, input),
        openPoll: (onNews) => new QueryPoll(input, onNews),
      }
    );
  }
}
