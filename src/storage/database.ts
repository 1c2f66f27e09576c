import type { QueryResultRow } from 'pg'

/** The query interface for modules. Both the pool and transactions implement it. */
export interface Queryable {
  query<Row extends QueryResultRow = QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>
}

/** A connection reserved for several statements, so that each is sent without waiting for the pool. */
export interface KeptConnection extends Queryable {
  /** Whether the connection is closed. */
  readonly isLost: boolean
  /** When it was opened, as `performance.now()` says. */
  readonly openedAtMs: number
  /** Runs a statement without a result. Cheaper than `query`, for frequent writes. */
  write(sql: string, values: readonly string[]): Promise<void>
  /**
   * @param isBroken whether a failed statement leaves the connection in doubt, so that it must be closed
   * @param isHanging whether its server does not answer, so that the other connections of the pool are opened anew
   */
  readonly release: (isBroken: boolean, isHanging?: boolean) => void
}

export interface Database extends Queryable {
  /**
   * Runs the work in one transaction and commits it. Repeats it, a limited number of times, after a serialisation failure, a
   * deadlock, or a connection lost before the commit. So the work must do nothing but query.
   */
  transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result>
  /** Reserves a connection of the shared pool. Release it soon. */
  keepConnection(): Promise<KeptConnection>
  /** Makes one cheap round trip. Rejects if the database does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}
