import type { QueryResultRow } from 'pg'

/** What a module may ask of the database. A pool and a transaction both answer to it. */
export interface Queryable {
  query<Row extends QueryResultRow = QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>
}

/** A connection that is kept over several statements: each is sent at once, without a wait for a connection. */
export interface KeptConnection extends Queryable {
  /** The server has gone or ended it: nothing can be sent on it any more. */
  readonly isLost: boolean
  /** With less work than a query, for what is written all the time. */
  write(sql: string, values: readonly string[]): Promise<void>
  /** @param isBroken after a statement failed in a way that says nothing good about the connection */
  readonly release: (isBroken: boolean) => void
}

export interface Database extends Queryable {
  /**
   * Runs the work in one transaction and commits it. Runs it again, a bounded number of times, on a serialisation
   * failure or a deadlock: the work must do nothing but query.
   */
  transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result>
  /** Must be released soon: it is taken from those that all others share. */
  keepConnection(): Promise<KeptConnection>
  /** One cheap round trip; rejects when the database does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}
