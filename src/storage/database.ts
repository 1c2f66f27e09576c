import type { QueryResultRow } from 'pg'

/** What a module may ask of the database. A pool and a transaction both answer to it. */
export interface Queryable {
  query<Row extends QueryResultRow = QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>
}

export interface Database extends Queryable {
  /**
   * Runs the work in one transaction and commits it. Runs it again, a bounded number of times, on a serialisation
   * failure or a deadlock: the work must do nothing but query.
   */
  transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result>
  /** One cheap round trip; rejects when the database does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}
